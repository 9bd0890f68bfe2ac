"""Writes one table in many formats into a folder, and bombs: few bytes that unpack to many."""

import bz2
import datetime as dt
import decimal
import gzip
import lzma
import os
import sys
import zipfile

os.chdir(sys.argv[1])

import odf.opendocument  # noqa: E402
import odf.table  # noqa: E402
import odf.text  # noqa: E402
import openpyxl  # noqa: E402
import polars  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.feather as feather  # noqa: E402
import pyarrow.parquet as parquet  # noqa: E402
import xlsxwriter  # noqa: E402

table = pa.table(
    {
        "i": pa.array([1, None, 2**53 + 1], pa.int64()),
        "u": pa.array([0, 1, 2**64 - 1], pa.uint64()),
        "f": [0.5, 1.5, None],
        "s": ["a", "é", "text that is longer than a view"],
        "d": pa.array([dt.date(2024, 2, 29)] * 3),
        "ts": pa.array([1, 2, 1700000000123456789], pa.timestamp("ns")),
        "t": pa.array([0, 1, 86399999999000], pa.time64("ns")),
        "dec": pa.array(
            [decimal.Decimal("1.10"), decimal.Decimal("-12345678901234567890.12"), None],
            pa.decimal128(30, 2),
        ),
        "b": pa.array([True, False, None]),
    }
)
with_words = table.append_column("w", pa.array(["x", "y", "x"]).dictionary_encode())
many = pa.concat_tables([with_words] * 20_000).combine_chunks()
frame = polars.from_arrow(table)

for codec in ["uncompressed", "lz4", "zstd"]:
    feather.write_feather(many, f"pyarrow-{codec}.feather", compression=codec, chunksize=20_000)
    frame.write_ipc(f"polars-{codec}.arrow", compression=codec)
with pa.ipc.new_stream("pyarrow.arrows", with_words.schema) as stream:
    stream.write_table(with_words)
for codec in ["snappy", "gzip", "brotli", "zstd", "lz4"]:
    parquet.write_table(table, f"pyarrow-{codec}.parquet", compression=codec)
for codec in ["snappy", "zstd", "lz4"]:
    frame.write_parquet(f"polars-{codec}.parquet", compression=codec)
# As Spark writes: times as 96 bits, decimals of fixed length, LZ4 in Hadoop's frames.
parquet.write_table(
    table.select(["i", "s", "ts", "dec"]),
    "spark.parquet",
    compression="lz4",
    use_deprecated_int96_timestamps=True,
    version="1.0",
)

HEAD = ["symbol", "score", "day", "when", "good", "clock", "note"]
ROW = ["TP53", 0.1, dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30, 15), True, dt.time(8, 5), "a\nb <&> é"]
book = openpyxl.Workbook()
book.active.append(HEAD)
book.active.append(ROW)
book.save("openpyxl.xlsx")

other = xlsxwriter.Workbook("xlsxwriter.xlsx", {"default_date_format": "yyyy-mm-dd"})
sheet = other.add_worksheet()
sheet.write_row(0, 0, HEAD[:3])
sheet.write_rich_string(1, 0, "TP", other.add_format({"bold": 1}), "5", "3")
sheet.write(1, 1, 1e-7)
sheet.write_datetime(1, 2, ROW[2])
other.close()

document = odf.opendocument.OpenDocumentSpreadsheet()
of_odf = odf.table.Table(name="Genes")
for values in [HEAD[:2], ["TP53", 0.1]]:
    row = odf.table.TableRow()
    for value in values:
        kind = {"valuetype": "string"} if isinstance(value, str) else {"valuetype": "float", "value": value}
        cell = odf.table.TableCell(**kind)
        cell.addElement(odf.text.P(text=str(value)))
        row.addElement(cell)
    of_odf.addElement(row)
document.spreadsheet.addElement(of_odf)
document.save("odfpy.ods")

# 100 MB of one letter, and 20 MB of empty lines.
for name, part, times in [("letters", b"a" * 1_000_000, 100), ("lines", b"\n" * 1_000_000, 20)]:
    with (
        gzip.open(f"{name}.gz", "wb") as a,
        bz2.open(f"{name}.bz2", "wb") as b,
        lzma.open(f"{name}.xz", "wb", preset=0) as c,
        pa.CompressedOutputStream(f"{name}.zst", "zstd") as d,
        zipfile.ZipFile(f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("t.csv", "w") as e,
    ):
        for _ in range(times):
            for file in (a, b, c, d, e):
                file.write(part)

# A workbook with a million empty rows below the table, and one whose texts are 300 MB.
wide = openpyxl.Workbook(write_only=True)
rows = wide.create_sheet()
rows.append(["a"])
rows.append([1])
for _ in range(1_000_000):
    rows.append([])
wide.save("empty-rows.xlsx")
with zipfile.ZipFile("xlsxwriter.xlsx") as source, zipfile.ZipFile("texts.xlsx", "w", zipfile.ZIP_DEFLATED) as copy:
    for name in source.namelist():
        if name != "xl/sharedStrings.xml":
            copy.writestr(name, source.read(name))
    with copy.open("xl/sharedStrings.xml", "w") as texts:
        texts.write(b"<sst>")
        for _ in range(300):
            texts.write(b"<si><t>" + b"a" * 1_000_000 + b"</t></si>")
        texts.write(b"</sst>")

# A Parquet file whose footer says that its first page is at another place.
whole = open("pyarrow-zstd.parquet", "rb").read()
open("footer.parquet", "wb").write(whole[:4] + b"\xff" * 200 + whole[204:])
open("cut.feather", "wb").write(open("pyarrow-lz4.feather", "rb").read()[:5_000])
