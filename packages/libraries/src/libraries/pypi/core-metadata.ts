/** The fields of a distribution's metadata that lists of files and of projects show. Source: PyPA, "core metadata". */
export interface CoreMetadata {
  name: string;
  version: string;
  summary: string;
  requiresPython: string;
  /** As it is written: an SPDX expression, or the name of a license; empty when it says none. */
  license: string;
}

/** A license field that is the text of the license is not a name of it. */
const MAX_LICENSE_CHARS = 200;
const MAX_CLASSIFIERS = 100;
/** No name, version, summary or classifier is as long. */
const MAX_VALUE_CHARS = 2048;
const WANTED: ReadonlySet<string> = new Set([
  "name",
  "version",
  "summary",
  "requires-python",
  "license-expression",
  "license",
  "classifier",
]);
const MAX_NAME_CHARS = Math.max(...[...WANTED].map(({ length }) => length));

/**
 * Reads the header of a METADATA file, which anybody may have written, in one pass: no regular expression meets it.
 * Lines that continue a value are joined to it; the description after the first empty line is not read. Of a value with
 * more than 2,048 characters the beginning is taken as a summary or a license; a name, a version or a
 * `Requires-Python` of that length counts as missing, since its beginning could mean something else.
 */
export function coreMetadata(text: string): CoreMetadata {
  const fields = new Map<string, string>();
  const classified = new Set<string>();
  let last = "";
  for (const line of headerLines(text)) {
    if (line.startsWith(" ") || line.startsWith("\t")) {
      if (last !== "") fields.set(last, joined(fields.get(last) ?? "", line));
      continue;
    }
    const colon = line.slice(0, MAX_NAME_CHARS + 1).indexOf(":");
    last = colon < 0 ? "" : line.slice(0, colon).toLowerCase();
    if (!WANTED.has(last)) last = "";
    const value = line
      .slice(colon + 1)
      .trim()
      .slice(0, MAX_VALUE_CHARS + 1);
    if (last === "classifier") {
      const license = licenseClassifier(value);
      if (license !== "" && classified.size < MAX_CLASSIFIERS) classified.add(license);
      last = "";
    }
    // Of a field that stands there twice, and may not, the first counts.
    if (last === "" || fields.has(last)) last = "";
    else fields.set(last, value);
  }
  const one = (name: string): string => fields.get(name) ?? "";
  const whole = (name: string): string => (one(name).length > MAX_VALUE_CHARS ? "" : one(name));
  return {
    name: whole("name"),
    version: whole("version"),
    summary: one("summary"),
    requiresPython: whole("requires-python"),
    license: licenseOf(one("license-expression"), one("license"), [...classified]),
  };
}

/** The lines before the first empty one, without their ends. */
function* headerLines(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const found = text.indexOf("\n", start);
    const next = found < 0 ? text.length : found;
    const end = text[next - 1] === "\r" && next > start ? next - 1 : next;
    if (end === start) return;
    yield text.slice(start, end);
    start = next + 1;
  }
}

/** The value with a line that continues it; one character more than is read says that it was longer. */
function joined(value: string, line: string): string {
  return value.length > MAX_VALUE_CHARS ? value : `${value} ${line.trim()}`.slice(0, MAX_VALUE_CHARS + 1);
}

/** The license that a classifier names, such as `MIT License` of `License :: OSI Approved :: MIT License`. */
function licenseClassifier(value: string): string {
  const [first, ...rest] = value.split("::").map((part) => part.trim());
  const license = rest.at(-1) ?? "";
  return first !== "License" || license === "OSI Approved" ? "" : license;
}

/** Of several classifiers none says whether all of them hold or one of them. */
function licenseOf(expression: string, license: string, classified: readonly string[]): string {
  if (expression !== "") return expression.slice(0, MAX_LICENSE_CHARS);
  if (license !== "" && license.length <= MAX_LICENSE_CHARS && license.toUpperCase() !== "UNKNOWN") return license;
  return classified.join(", ").slice(0, MAX_LICENSE_CHARS);
}
