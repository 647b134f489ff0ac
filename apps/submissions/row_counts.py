"""Update the row counts of PostgreSQL's planner after bulk inserts."""

from django.db import connection, models, transaction

MANY = 100


def rows_recount(added: int, *tables: type[models.Model]) -> None:
    """Run ANALYZE on the tables after the commit if at least `MANY` rows were added.

    Autovacuum analyses tables about once a minute. Until then the planner assumes few rows and joins the papers of a contest
    with nested loops; a page of 1,000 papers then exceeds DATABASE_STATEMENT_S. Does nothing on SQLite.
    """
    if added < MANY or connection.vendor != "postgresql":
        return
    names = ", ".join(connection.ops.quote_name(table._meta.db_table) for table in tables)

    def recount() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {names}")

    transaction.on_commit(recount, robust=True)
