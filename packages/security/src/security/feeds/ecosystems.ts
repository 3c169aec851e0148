import { packageKey } from "../matching/package-keys.ts";

// Names of ecosystems and their releases, as OSV has them and operators write them.

/** In place of names: all that a feed has records about. */
export const COVERS_ALL = "*";
/** In place of names: nothing, as of a list of single records. */
export const COVERS_NONE = "none";

// Of a distribution packages are known by a release: one of each form that any of them has.
const RELEASES = ["", ":12", ":24.04", ":v3.20", ":enterprise_linux:9"];

/** Whether packages of the ecosystem, such as `npm`, `Debian` or `Debian:12`, are compared with records here. */
export function isEcosystem(name: string): boolean {
  return spaceOf(name) !== undefined;
}

/** Whether a key space, such as `npm` or `debian:12`, is of the ecosystem, or of the release if it names one. */
export function isWithin(space: string, ecosystem: string): boolean {
  const meant = spaceOf(ecosystem);
  if (meant === undefined) return false;
  // The releases of Ubuntu Pro are Ubuntu's.
  const own = space.replace(/^ubuntu-pro(?=:|$)/, "ubuntu");
  return meant.isWhole ? firstOf(own) === firstOf(meant.space) : own === meant.space;
}

/** The key space that a name means; of a distribution without a release one of them, for `isWhole`. */
function spaceOf(ecosystem: string): { space: string; isWhole: boolean } | undefined {
  for (const release of RELEASES) {
    const key = packageKey({ ecosystem: ecosystem + release, name: "a/a" });
    if (key !== undefined) return { space: key.slice(0, key.indexOf("/")), isWhole: release !== "" };
  }
  return undefined;
}

function firstOf(space: string): string {
  return space.split(":", 1)[0] ?? "";
}
