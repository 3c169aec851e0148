import { clean } from "@renovatebot/pep440";
import { isVersion } from "@moorage/kernel/lib/versions";
import { normalizedName } from "./names.ts";

/** What the name of a distribution's file says. */
interface Distribution {
  kind: "bdist_wheel" | "sdist";
  /** The version as the file's name has it. */
  version: string;
}

// Source: PyPA, "binary distribution format": `{distribution}-{version}(-{build tag})?-{python}-{abi}-{platform}.whl`.
const WHEEL =
  /^(?<name>[A-Za-z0-9._]+)-(?<version>[^-]+)(?:-\d[^-]*)?-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+\.whl$/;
/** Archives of sources. `.zip` is from before PEP 625; others are not taken any longer. */
const SDIST = /\.(?:tar\.gz|zip)$/;
const SAFE = /^[A-Za-z0-9][A-Za-z0-9._+!-]*$/;
const MAX_LENGTH = 255;

/**
 * What the file's name says about a distribution of the project; undefined when it is not the name of one, or of
 * another project. `project` is normalized. Sources: PyPA, "binary distribution format" and "source distribution
 * format"; names from before PEP 625 with hyphens in the project's part are understood.
 */
export function distributionOf(filename: string, project: string): Distribution | undefined {
  if (filename.length > MAX_LENGTH || !SAFE.test(filename)) return undefined;
  const wheel = WHEEL.exec(filename)?.groups;
  if (wheel !== undefined) {
    const [name = "", version = ""] = [wheel["name"], wheel["version"]];
    return normalizedName(name) === project && isVersion("pypi", version)
      ? { kind: "bdist_wheel", version }
      : undefined;
  }
  if (!SDIST.test(filename)) return undefined;
  const stem = filename.replace(SDIST, "");
  for (let at = stem.indexOf("-"); at > 0; at = stem.indexOf("-", at + 1)) {
    const version = stem.slice(at + 1);
    if (normalizedName(stem.slice(0, at)) === project && isVersion("pypi", version)) return { kind: "sdist", version };
  }
  return undefined;
}

/**
 * The version in the form in which equal versions are equal texts, such as `1.0rc1` for `1.0-RC.1`. Source: PEP 440.
 */
export function normalizedVersion(version: string): string {
  // The library joins the parts of a local version with commas, which PEP 440 does not know.
  return (clean(version.trim()) ?? version.trim()).replaceAll(",", ".");
}
