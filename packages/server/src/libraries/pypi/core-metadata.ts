/** The fields of a distribution's metadata that lists of files and of projects show. Source: PyPA, "core metadata". */
export interface CoreMetadata {
  name: string;
  version: string;
  summary: string;
  requiresPython: string;
  /** As it is written: an SPDX expression, or the name of a license; empty when it says none. */
  license: string;
}

/** A licence field that is the text of the licence is not a name of it. */
const MAX_LICENSE_CHARS = 200;
const LICENSE_CLASSIFIER = /^License\s*::\s*(?:.*::\s*)?(\S.*)$/;
const FIELD = /^([A-Za-z0-9-]+):[ \t]*(.*)$/;

/**
 * Reads the header of a METADATA file: fields with one value, by their names in lower case. Lines that continue a
 * value are joined to it; the description after the first empty line is not read.
 */
export function coreMetadata(text: string): CoreMetadata {
  const fields = new Map<string, string>();
  const classified = new Set<string>();
  let last = "";
  for (const line of text.split(/\r?\n/)) {
    if (line === "") break;
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name !== undefined && value !== undefined) {
      last = name.toLowerCase();
      const [, license] = (last === "classifier" && LICENSE_CLASSIFIER.exec(value.trim())) || [];
      if (license !== undefined && license !== "OSI Approved") classified.add(license);
      // Of a field that stands there twice, and may not, the first counts.
      if (!fields.has(last)) fields.set(last, value.trim());
      else last = "";
    } else if (/^[ \t]/.test(line) && last !== "") {
      fields.set(last, `${fields.get(last) ?? ""} ${line.trim()}`);
    }
  }
  const one = (name: string): string => fields.get(name) ?? "";
  return {
    name: one("name"),
    version: one("version"),
    summary: one("summary"),
    requiresPython: one("requires-python"),
    license: licenseOf(one("license-expression"), one("license"), [...classified]),
  };
}

/** Of several classifiers none says whether all of them hold or one of them. */
function licenseOf(expression: string, license: string, classified: readonly string[]): string {
  if (expression !== "") return expression.slice(0, MAX_LICENSE_CHARS);
  if (license !== "" && license.length <= MAX_LICENSE_CHARS && license.toUpperCase() !== "UNKNOWN") return license;
  return classified.join(", ").slice(0, MAX_LICENSE_CHARS);
}
