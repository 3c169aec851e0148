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
  const parser = sax.parser(true, { trim: true, normalize: true });
  const pom: Pom = { name: "", description: "" };
  const open: string[] = [];
  let root = "";
  let isBroken = false;
  const take = (more: string): void => {
    const [, name] = open;
    if (open.length === DEPTH && (name === "name" || name === "description")) pom[name] += more;
  };
  parser.onopentag = ({ name }) => {
    open.push(name);
    if (open.length === 1) root = name;
  };
  parser.onclosetag = () => void open.pop();
  parser.ontext = take;
  parser.oncdata = take;
  parser.onerror = () => {
    isBroken = true;
  };
  try {
    parser.write(text).close();
  } catch {
    return undefined;
  }
  return isBroken || root !== "project" ? undefined : pom;
}
