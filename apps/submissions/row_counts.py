"""Many rows at once, told to PostgreSQL's planner."""

from django.db import connection, models, transaction

MANY = 100


def rows_recount(added: int, *tables: type[models.Model]) -> None:
    """Where `added` rows are many, let PostgreSQL count these tables anew after the commit.

    Until its own round, up to a minute later, it plans for the few rows of before: joins of a contest's papers then nest, and a
    page of 1,000 papers takes longer than a statement may (DATABASE_STATEMENT_S). SQLite needs none of this.
    """
    if added < MANY or connection.vendor != "postgresql":
        return
    names = ", ".join(connection.ops.quote_name(table._meta.db_table) for table in tables)

    def recount() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {names}")

    transaction.on_commit(recount, robust=True)
