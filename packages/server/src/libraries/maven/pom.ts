import sax from "sax";

/** What of a POM is shown in lists. */
export interface Pom {
  name: string;
  description: string;
}

const DEPTH = 2;

/**
 * Reads the name and the description of a project from its POM. Undefined for a text that is no POM. Entities that the
 * document declares itself are not replaced, and nothing outside of it is read. Source: Maven, POM 4.0.0.
 */
export function pomOf(text: string): Pom | undefined {
  const pom: Pom = { name: "", description: "" };
  const open: string[] = [];
  let root = "";
  let isBroken = false;
  const take = (more: string): void => {
    const [, name] = open;
    if (open.length === DEPTH && (name === "name" || name === "description")) pom[name] += more;
  };
  const parser = sax.createStream(true, { trim: true, normalize: true });
  parser.on("opentag", ({ name }) => {
    open.push(name);
    if (open.length === 1) root = name;
  });
  parser.on("closetag", () => void open.pop());
  parser.on("text", take);
  parser.on("cdata", take);
  parser.on("error", () => {
    isBroken = true;
  });
  try {
    parser.write(text);
    parser.end();
  } catch {
    return undefined;
  }
  return isBroken || root !== "project" ? undefined : pom;
}
