/** What a project says about itself at length, and in which form. */
export interface ProjectReadme {
  text: string;
  /** Such as `text/markdown`; empty where its publisher states none that is known. */
  contentType: string;
}

/** So many characters of a readme are kept. */
export const MAX_README_CHARS = 65_536;

// Source: PyPA, "core metadata", Description-Content-Type.
const TYPES: ReadonlySet<string> = new Set(["text/markdown", "text/x-rst", "text/plain"]);
const MAX_LINE_CHARS = 200;
const TYPE_FIELD = "description-content-type:";
const OLD_FIELD = "description:";

/** A readme as its publisher stated it, cut to what is kept. */
export function readmeOf(text: string, contentType: string): ProjectReadme {
  const [type = ""] = contentType.slice(0, MAX_LINE_CHARS).split(";", 1);
  const known = type.trim().toLowerCase();
  // Forms have two characters at the end of each line.
  const lines = text.slice(0, 2 * MAX_README_CHARS).replaceAll("\r\n", "\n");
  return { text: lines.slice(0, MAX_README_CHARS), contentType: TYPES.has(known) ? known : "" };
}

/**
 * The readme of a METADATA file: what stands behind its header. Undefined where the header has it, as older tools
 * write it, which is not read.
 */
export function readmeIn(metadata: string): ProjectReadme | undefined {
  let contentType = "";
  let isInHeader = false;
  for (let start = 0; start < metadata.length;) {
    const found = metadata.indexOf("\n", start);
    const end = found < 0 ? metadata.length : found;
    const isCrlf = end > start && metadata[end - 1] === "\r";
    const line = metadata.slice(start, Math.min(isCrlf ? end - 1 : end, start + MAX_LINE_CHARS));
    start = end + 1;
    if (line === "") return isInHeader ? undefined : readmeOf(metadata.slice(start).trimEnd(), contentType);
    const lower = line.toLowerCase();
    if (lower.startsWith(TYPE_FIELD) && contentType === "") contentType = line.slice(TYPE_FIELD.length);
    if (lower.startsWith(OLD_FIELD)) isInHeader = true;
  }
  return isInHeader ? undefined : readmeOf("", contentType);
}

/** What is kept of a project as a whole: the readme of its latest version, as far as a distribution of it said it. */
interface ProjectState {
  readme?: ProjectReadme & { version: string };
}

/** The state of an artifact's column. */
export function stateOf(text: string): ProjectState {
  return JSON.parse(text) as ProjectState;
}
