import { Field } from "./components.js";
import { LICENCES } from "./licences.js";
import { licenceText } from "./words.js";

const OTHER = "otherLicence";

interface LicenceFieldProps {
  name: string;
  /** As it is stated, or as it was sent; empty for none. */
  value: string;
  /** What was sent as another licence. */
  other?: string;
  /** What no choice means. */
  none: string;
  error?: string | undefined;
}

/** A licence is chosen by its name; one that is not offered is typed. */
export function LicenceField({ name, value, other = "", none, error }: LicenceFieldProps) {
  const isOffered = LICENCES.some(([address]) => address === value);
  return (
    <>
      <Field
        label="Licence"
        name={name}
        value={value}
        options={[
          ["", none],
          // A document may state it with spaces, or by another address: it stays as it is.
          ...(value === "" || isOffered ? [] : [[value, licenceText(value)] as const]),
          ...LICENCES.filter(([address]) => isOffered || address !== value.trim()),
        ]}
        error={error}
      />
      <details class="more" open={other !== ""}>
        <summary>Another licence</summary>
        <Field
          label="Address or short name"
          name={OTHER}
          value={other}
          help="A web address, or a short name of SPDX such as CC-BY-SA-4.0. It counts instead of the choice above."
        />
      </details>
    </>
  );
}

/** The licence that a form with a {@link LicenceField} states; empty for none. */
export const licenceIn = (form: URLSearchParams, name: string): string =>
  form.get(OTHER)?.trim() || (form.get(name) ?? "");
/** The text of the field for another licence, as it was sent. */
export const otherLicenceIn = (form: URLSearchParams): string => form.get(OTHER) ?? "";
