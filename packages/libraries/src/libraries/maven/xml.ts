import sax from "sax";

/** The most elements of a document that are read: the longest list of versions has some thousands. */
const MAX_ELEMENTS = 500_000;
const MAX_DEPTH = 64;
/** Of the text of one element: what follows is not read. */
const MAX_TEXT_CHARS = 64 * 1024;

interface Element {
  /** Below the root. */
  path: string;
  text: string;
}

/**
 * Gives each element of a document to `take` when it ends, by its path below the root, such as
 * `versioning/versions/version`, with the text in it that is in no element inside. `take` may return false: then
 * nothing more is read. False for a text that is not well-formed, or has another root. Entities that the document
 * declares itself are not replaced, and nothing outside of it is read.
 */
export function readXml(text: string, root: string, take: (path: string, text: string) => boolean | void): boolean {
  const open: Element[] = [];
  let found: string | undefined;
  let elements = 0;
  const add = (more: string): void => {
    const last = open.at(-1);
    if (last !== undefined && last.text.length < MAX_TEXT_CHARS) last.text += more;
  };
  const parser = sax.createStream(true, { trim: true, normalize: true });
  parser.on("opentag", ({ name }) => {
    elements += 1;
    if (elements > MAX_ELEMENTS || open.length >= MAX_DEPTH) throw new Error("the document is too large");
    found ??= name;
    const above = open.at(-1)?.path;
    open.push({ path: above === undefined ? "" : above === "" ? name : `${above}/${name}`, text: "" });
  });
  parser.on("closetag", () => {
    const last = open.pop();
    if (take(last?.path ?? "", last?.text ?? "") === false) throw new Error("enough is read");
  });
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("error", (error) => {
    // Nothing more is read of what is not well-formed.
    throw error;
  });
  try {
    parser.write(text);
    parser.end();
  } catch {
    return false;
  }
  return found === root;
}
