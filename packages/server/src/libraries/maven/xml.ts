import sax from "sax";

/** The most elements of a document that are read: the longest list of versions has some thousands. */
const MAX_ELEMENTS = 500_000;
const MAX_DEPTH = 64;

/**
 * Gives each element of a document to `take` when it ends, by its path below the root, such as
 * `versioning/versions/version`, with the text in it that is in no element inside. False for a text that is not
 * well-formed, or has another root. Entities that the document declares itself are not replaced, and nothing outside
 * of it is read.
 */
export function readXml(text: string, root: string, take: (path: string, text: string) => void): boolean {
  const open: { name: string; text: string }[] = [];
  let found: string | undefined;
  let isBroken = false;
  let elements = 0;
  const add = (more: string): void => {
    const last = open.at(-1);
    if (last !== undefined) last.text += more;
  };
  const parser = sax.createStream(true, { trim: true, normalize: true });
  parser.on("opentag", ({ name }) => {
    elements += 1;
    if (elements > MAX_ELEMENTS || open.length >= MAX_DEPTH) throw new Error("the document is too large");
    found ??= name;
    open.push({ name, text: "" });
  });
  parser.on("closetag", () => {
    const path = open.slice(1).map((one) => one.name);
    take(path.join("/"), open.pop()?.text ?? "");
  });
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("error", () => {
    isBroken = true;
  });
  try {
    parser.write(text);
    parser.end();
  } catch {
    return false;
  }
  return !isBroken && found === root;
}
