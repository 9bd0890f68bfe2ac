import { Transform, type Readable } from "node:stream";
import { invalid, type ValidationError } from "../errors.js";

/**
 * The end of a multipart form, which its file waits for. What comes behind the file can still refuse the form; had
 * the file ended by then, whoever takes it would have stored it.
 */
export class FormEnd {
  readonly reached: Promise<void>;
  reach!: () => void;
  fail!: (error: unknown) => void;
  /** What the form was refused with. */
  failure: unknown;

  constructor() {
    this.reached = new Promise((resolve, reject) => {
      this.reach = resolve;
      this.fail = (error) => {
        this.failure ??= error;
        reject(error);
      };
    });
    // A form may fail while nobody waits for it any more.
    this.reached.catch(() => undefined);
  }

  /** The stream, with its end after the form's; it fails with the form. Ending it early leaves the rest to be read over. */
  hold(stream: Readable): Readable {
    const held = new Transform({
      transform: (chunk, _encoding, done) => done(null, chunk),
      flush: (done) => void this.reached.then(() => done(), done),
    });
    // Also while the file is on its way: a source that was ended by its parser may say nothing.
    this.reached.catch((error: Error) => held.destroy(error));
    stream.on("error", (error) => held.destroy(error));
    held.on("error", () => undefined).once("close", () => stream.unpipe(held).resume());
    return stream.pipe(held);
  }
}

/** A form with two files, where the operation takes one. */
export const secondFile = (field: string): ValidationError => invalid(["body", field], "Value error, A second file came, and one is taken: send each file in a request of its own");
/** A part that may be there once. */
export const twice = (field: string): ValidationError => invalid(["body", field], "Value error, The field came twice: send it once");
