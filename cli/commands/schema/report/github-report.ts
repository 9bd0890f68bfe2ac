import { OrderedReport } from "./report.js";

const data = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** Workflow commands of GitHub Actions: one annotation for each error. */
export class GithubReport extends OrderedReport {
  protected async write(): Promise<void> {
    for (const { kind: { type, keyword }, line, row, message } of this.errors()) {
      const title = keyword === null ? type : `${type} ${keyword}`;
      const full = this.output.write(`::error file=${property(this.file)}${line > 0 ? `,line=${line}` : ""},title=${property(title)}::${data(`row ${row}: ${message}`)}\n`);
      if (full) await full;
    }
    await this.output.flush();
  }
}
