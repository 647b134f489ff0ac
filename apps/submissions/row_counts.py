"""Row counts of PostgreSQL's planner after many rows were added at once."""

from django.db import connection, models, transaction

MANY = 100


def rows_recount(added: int, *tables: type[models.Model]) -> None:
    """Have PostgreSQL count these tables again after the commit, if at least `MANY` rows were added.

    It counts by itself about once a minute. Until then it plans for the few rows it knew, joins a contest's papers by nested
    loops, and a page of 1,000 papers takes longer than a statement may (DATABASE_STATEMENT_S). SQLite needs none of this.
    """
    if added < MANY or connection.vendor != "postgresql":
        return
    names = ", ".join(connection.ops.quote_name(table._meta.db_table) for table in tables)

    def recount() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {names}")

    transaction.on_commit(recount, robust=True)
