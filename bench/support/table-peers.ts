/**
 * Python libraries that check the table of {@link writeGenes} by the rules of {@link genesSchema},
 * each as its documentation shows it, in one thread. They count the rows that break a rule; they do
 * not say where.
 */
export const TABLE_PEERS: Readonly<Record<string, string>> = {
  duckdb: `import duckdb
connection = duckdb.connect()
connection.execute("SET threads = 1")
wrong, = connection.execute("""
    SELECT count(*) FROM read_csv('genes.csv', header = true, columns = {
        'id': 'BIGINT', 'symbol': 'VARCHAR', 'ensembl': 'VARCHAR', 'score': 'DOUBLE',
        'reads': 'BIGINT', 'bait': 'BOOLEAN', 'description': 'VARCHAR', 'plate': 'VARCHAR'})
    WHERE NOT (id >= 0 AND regexp_matches(symbol, '^[A-Za-z0-9/-]*$')
        AND regexp_matches(ensembl, '^ENSG[0-9]{11}$') AND score BETWEEN 0 AND 100
        AND reads >= 0 AND length(description) <= 200
        AND regexp_matches(plate, '^B2AI_[0-9]*_.*$'))
""").fetchone()
assert wrong == 0
`,
  polars: `import os
os.environ["POLARS_MAX_THREADS"] = "1"
import polars as pl
types = {"id": pl.Int64, "symbol": pl.String, "ensembl": pl.String, "score": pl.Float64,
         "reads": pl.Int64, "bait": pl.Boolean, "description": pl.String, "plate": pl.String}
good = ((pl.col("id") >= 0) & pl.col("symbol").str.contains("^[A-Za-z0-9/-]*$")
    & pl.col("ensembl").str.contains("^ENSG[0-9]{11}$") & pl.col("score").is_between(0, 100)
    & (pl.col("reads") >= 0) & (pl.col("description").str.len_chars() <= 200)
    & pl.col("plate").str.contains("^B2AI_[0-9]*_.*$"))
table = pl.scan_csv("genes.csv", schema=types)
assert table.filter(~good).select(pl.len()).collect(engine="streaming").item() == 0
`,
  pandera: `import pandas
import pandera.pandas as pa
schema = pa.DataFrameSchema({
    "id": pa.Column(int, pa.Check.ge(0)),
    "symbol": pa.Column(str, pa.Check.str_matches("^[A-Za-z0-9/-]*$")),
    "ensembl": pa.Column(str, pa.Check.str_matches("^ENSG[0-9]{11}$")),
    "score": pa.Column(float, pa.Check.in_range(0, 100)),
    "reads": pa.Column(int, pa.Check.ge(0)),
    "bait": pa.Column(bool),
    "description": pa.Column(str, pa.Check.str_length(max_value=200)),
    "plate": pa.Column(str, pa.Check.str_matches("^B2AI_[0-9]*_.*$")),
})
schema.validate(pandas.read_csv("genes.csv"), lazy=True)
`,
};
