/** The fields of a distribution's metadata that lists of files and of projects show. Source: PyPA, "core metadata". */
export interface CoreMetadata {
  name: string;
  version: string;
  summary: string;
  requiresPython: string;
}

const FIELD = /^([A-Za-z0-9-]+):[ \t]*(.*)$/;

/**
 * Reads the header of a METADATA file: fields with one value, by their names in lower case. Lines that continue a
 * value are joined to it; the description after the first empty line is not read.
 */
export function coreMetadata(text: string): CoreMetadata {
  const fields = new Map<string, string>();
  let last = "";
  for (const line of text.split(/\r?\n/)) {
    if (line === "") break;
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name !== undefined && value !== undefined) {
      last = name.toLowerCase();
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
  };
}
