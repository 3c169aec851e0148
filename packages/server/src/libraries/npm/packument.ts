import { isoTime } from "../../lib/timestamps.ts";
import type { Row } from "../../store/index.ts";
import type { FoundPackage } from "./found.ts";
import { abbreviated } from "./manifest.ts";
import type { Offered } from "./offered.ts";

/** The forms of a packument: with all that there is, and with what an installation needs. */
export type Form = "full" | "abbreviated";

/** By what a packument is kept in memory. `url`: that of the group's packages. */
export function packumentKey(
  { group, name, artifact, document, removed, gate }: FoundPackage,
  form: Form,
  url: string,
): string {
  const ofGroup = artifact === undefined ? "" : `${artifact.uid} ${artifact.revision}`;
  // Without an artifact no revision says what was removed with it.
  return `npm ${group} ${name} ${ofGroup} ${removed} ${document?.revision ?? ""} ${form} ${url} ${gate.key}`;
}

/** The revision of a package, which clients send back to change it. */
export function revOf({ uid, revision }: Row<"artifacts">): string {
  return `${revision}-${uid.slice(uid.lastIndexOf("/") + 1)}`;
}

const OF_THE_LATEST = [
  "maintainers",
  "author",
  "contributors",
  "repository",
  "bugs",
  "homepage",
  "license",
  "keywords",
];

/** The packument of a package. Source: npm/registry, package-metadata.md. */
export function packumentOf(offered: Offered, form: Form): object {
  const { name, artifact, tags, versions, description, readme, createdMs, modifiedMs } = offered;
  if (form === "abbreviated")
    return {
      name,
      "dist-tags": tags,
      modified: isoTime(modifiedMs),
      versions: Object.fromEntries(versions.map(({ version, manifest }) => [version, abbreviated(manifest)])),
    };
  const latest = versions.find(({ version }) => version === tags["latest"])?.manifest ?? {};
  return {
    _id: name,
    _rev: artifact === undefined ? "0-upstream" : revOf(artifact),
    name,
    description,
    "dist-tags": tags,
    versions: Object.fromEntries(versions.map(({ version, manifest }) => [version, manifest])),
    time: {
      created: isoTime(createdMs),
      modified: isoTime(modifiedMs),
      ...Object.fromEntries(
        versions.flatMap(({ version, facts: { publishMs } }) =>
          publishMs === undefined ? [] : [[version, isoTime(publishMs)]],
        ),
      ),
    },
    ...Object.fromEntries(OF_THE_LATEST.filter((key) => latest[key] !== undefined).map((key) => [key, latest[key]])),
    readme,
  };
}
