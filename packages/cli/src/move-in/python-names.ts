// Names of Python projects and of their files, as this registry takes them. Sources: PyPA, "names and normalization";
// PEP 625; "binary distribution format".
import { pypiName } from "@moorage/kernel/lib/purls";

const MAX_CHARS = 128;
const MAX_FILE_CHARS = 255;
const NAME = /^(?:[a-z0-9]|[a-z0-9][a-z0-9._-]*[a-z0-9])$/i;
const FILE = /^[A-Za-z0-9][A-Za-z0-9._+!-]*$/;
const TAKEN = /\.(?:whl|tar\.gz|zip)$/;

/** Why a name is not valid for a Python project; undefined when it is. */
export function faultOfProject(name: string): string | undefined {
  if (name === "") return "has no name";
  if (name.length > MAX_CHARS) return `its name is longer than ${MAX_CHARS} characters`;
  return NAME.test(name)
    ? undefined
    : "its name is not valid for a Python project: it takes letters, digits, and . _ - inside";
}

/** Why a file of this name cannot be published here; undefined when it can, as far as its name says. */
export function faultOfFile(name: string): string | undefined {
  if (name.length > MAX_FILE_CHARS || !FILE.test(name)) return "its name is not valid for a distribution";
  return TAKEN.test(name) ? undefined : "is neither a wheel nor a source distribution (.whl, .tar.gz, .zip)";
}

/** Where items of projects are: the index, the project as its publisher writes it, and of a file its name. */
export interface ProjectPlace {
  index: string;
  project: string;
  /** Empty of a project. */
  file: string;
}

/** Reads `index/project`, of a file `index/project/file`; an index may have slashes. */
export function projectPlaceOf({ kind, source }: { kind: string; source: string }): ProjectPlace {
  const parts = source.split("/");
  const file = kind === "file" ? (parts.pop() ?? "") : "";
  const project = parts.pop() ?? "";
  return { index: parts.join("/"), project, file };
}

/** The path here, below a group, of what is at this place there. */
export function projectTarget(into: string, { index, project, file }: ProjectPlace): string {
  return [into, index, pypiName(project), file].filter((part) => part !== "").join("/");
}
