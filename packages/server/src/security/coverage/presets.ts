/**
 * The preset of `moorage feeds add` that covers the packages of a key space, by what their keys begin with: see
 * packageKey. A space that no preset covers is left out.
 */
const PRESETS: Readonly<Record<string, string>> = {
  npm: "osv",
  pypi: "osv",
  maven: "osv",
  go: "osv",
  cargo: "osv",
  debian: "debian",
  ubuntu: "ubuntu",
  "ubuntu-pro": "ubuntu",
  alpine: "alpine",
  wolfi: "wolfi",
  chainguard: "chainguard",
  redhat: "redhat",
  rocky: "rocky",
  alma: "alma",
};

/** The name of the preset for a key space such as `npm` or `debian:12`; empty when there is none. */
export function presetFor(space: string): string {
  const [name = ""] = space.split(":", 1);
  return Object.hasOwn(PRESETS, name) ? (PRESETS[name] ?? "") : "";
}
