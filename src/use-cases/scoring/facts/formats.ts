import type { Fields } from "./fields.js";

/** Names under which crates state the format of a file. */
const NAMES = ["encodingFormat", "format", "fileFormat"];
/** Formats that anybody may read and write: media types, file name extensions, and names. */
const OPEN = new RegExp(`^(?:text/[\\w.+-]+|[\\w.+-]+/[\\w.-]+\\+(?:json|xml|yaml|zip)|application/(?:json|xml|yaml|pdf|zip|gzip|x-tar|zlib|sql|n-triples|n-quads|trig|cbor|fits|geopackage\\+sqlite3|vnd\\.(?:apache\\.(?:parquet|arrow\\.\\w+|avro.*)|sqlite3|oasis\\.opendocument.*)|x-(?:hdf5?|netcdf|ipynb\\+json))|image/(?:png|jpeg|tiff|svg\\+xml|webp|gif|avif|fits)|audio/(?:flac|ogg|wav|opus)|video/(?:ogg|webm|av1)|${
  "csv|tsv|txt|json|jsonl|ndjson|jsonld|xml|yaml|yml|html?|md|ttl|nt|nq|rdf|owl|parquet|arrow|feather|avro|h5|hdf5|h5ad|h5mu|zarr|nc|netcdf|fits|npy|npz|mtx|mzml|mgf|fasta|fa|fastq|fq|sam|bam|cram|vcf|bcf|bed|gff3?|gtf|pdb|cif|dicom|dcm|nii|nwb|ome-tiff|png|jpe?g|tiff?|svg|gif|pdf|zip|gz|gzip|tar|bz2|py|r|sh|bash|ipynb|cwl|nf|wdl|sql|sqlite|gml|graphml|cx2?|obo"})$`, "i");
/** Registries of formats beside that of media types. */
const REGISTERED_ELSEWHERE = /^https?:\/\/(?:www\.)?(?:nationalarchives\.gov\.uk\/pronom\/|edamontology\.org\/format_|iana\.org\/assignments\/media-types\/|wikidata\.org\/(?:wiki|entity)\/Q)/i;

export interface FormatFacts { place: string; isRegistered: boolean; isOpen: boolean }

/** Tells media types that IANA has registered from others. */
export class Formats {
  private constructor(private readonly registered: ReadonlySet<string>) {}

  /** The list is large and wanted seldom: it is loaded with the first score. */
  static async load(): Promise<Formats> {
    const { default: types } = await import("mime-db");
    return new Formats(new Set(Object.entries(types).flatMap(([type, { source }]) => (source === "iana" ? [type] : []))));
  }

  /** What a record states as its format; `undefined` where it states none. */
  of(fields: Fields): FormatFacts | undefined {
    const field = fields.first(...NAMES);
    if (!field) return undefined;
    const said = fields.references(...NAMES).map((text) => text.trim());
    return { place: field.place, isRegistered: said.some((text) => this.isRegistered(text)), isOpen: said.some((text) => OPEN.test(mediaType(text).replace(/^\./, ""))) };
  }

  private isRegistered(text: string): boolean {
    return this.registered.has(mediaType(text)) || REGISTERED_ELSEWHERE.test(text);
  }
}

/** Without parameters. */
const mediaType = (text: string): string => text.split(";", 1)[0]!.trim().toLowerCase();

const TABLE_FORMAT = /^(?:\.?(?:csv|tsv|tab|parquet|xlsx?|ods)|text\/(?:csv|tab-separated-values)|application\/(?:csv|vnd\.apache\.parquet|vnd\.ms-excel.*|vnd\.openxmlformats-officedocument\.spreadsheetml.*|vnd\.oasis\.opendocument\.spreadsheet))$/i;
const TABLE_NAME = /\.(?:csv|tsv|tab|parquet|xlsx?|ods)(?:\.gz)?$/i;

/** True for a table of rows and columns: by its format, or by the name of its file. */
export function isTable(fields: Fields): boolean {
  const said = fields.references(...NAMES).map(mediaType);
  if (said.length > 0) return said.some((text) => TABLE_FORMAT.test(text));
  return [fields.ark, ...fields.references("sourceContentUrl", "contentUrl", "name")].some((text) => TABLE_NAME.test(text));
}
