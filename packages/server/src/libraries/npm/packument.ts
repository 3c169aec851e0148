import { isoTime } from "../../lib/timestamps.ts";
import type { Database, Row } from "../../store/index.ts";
import { filesOf, versionsOf } from "../artifacts/visible.ts";
import { attestationsIn, attestationsPath, linkTo } from "./attestations.ts";
import { abbreviated, type Manifest, stateOf } from "./manifest.ts";

/** The forms of a packument: with all that there is, and with what an installation needs. */
export type Form = "full" | "abbreviated";

/** The rows that a packument is made of. */
interface PackumentRows {
  versions: Row<"artifact_versions">[];
  files: Row<"artifact_files">[];
}

/** By what a packument is kept in memory. `url`: that of the group's packages. */
export function packumentKey({ uid, revision }: Row<"artifacts">, form: Form, url: string): string {
  return `npm ${uid} ${revision} ${form} ${url}`;
}

/** The packument as JSON, made of its rows. */
export async function packumentJson(
  tx: Database,
  artifact: Row<"artifacts">,
  form: Form,
  url: string,
): Promise<string> {
  const rows = { versions: await versionsOf(tx, artifact.uid), files: await filesOf(tx, artifact.uid) };
  return JSON.stringify(packumentOf(artifact, rows, form, url));
}

/** The revision of a package, which clients send back to change it. */
export function revOf({ uid, revision }: Row<"artifacts">): string {
  return `${revision}-${uid.slice(uid.lastIndexOf("/") + 1)}`;
}

function packumentOf(artifact: Row<"artifacts">, rows: PackumentRows, form: Form, url: string): object {
  const { name, update_time: updateMs, create_time: createMs, description } = artifact;
  const { tags, readme } = stateOf(artifact.state);
  const manifests = manifestsOf(artifact, rows, url);
  const shown = new Set(manifests.map(([version]) => version));
  const distTags = Object.fromEntries(Object.entries(tags).filter(([, version]) => shown.has(version)));
  if (form === "abbreviated")
    return {
      name,
      "dist-tags": distTags,
      modified: isoTime(updateMs),
      versions: Object.fromEntries(manifests.map(([version, manifest]) => [version, abbreviated(manifest)])),
    };
  const latest = manifests.find(([version]) => version === tags["latest"])?.[1] ?? {};
  const common = ["maintainers", "author", "contributors", "repository", "bugs", "homepage", "license", "keywords"];
  return {
    _id: name,
    _rev: revOf(artifact),
    name,
    description,
    "dist-tags": distTags,
    versions: Object.fromEntries(manifests),
    time: {
      created: isoTime(createMs),
      modified: isoTime(updateMs),
      ...Object.fromEntries(rows.versions.map((row) => [row.version, isoTime(row.publish_time)])),
    },
    ...Object.fromEntries(common.filter((key) => latest[key] !== undefined).map((key) => [key, latest[key]])),
    readme: readme ?? "",
  };
}

/** The versions with what clients read of them, the earliest first. */
export function manifestsOf(
  { name }: Pick<Row<"artifacts">, "name">,
  { versions, files }: PackumentRows,
  url: string,
): [version: string, manifest: Manifest][] {
  const tarballs = new Map(files.map((file) => [file.version, file]));
  return versions.map((row) => {
    const manifest = JSON.parse(row.metadata) as Manifest & { dist?: object };
    const file = tarballs.get(row.uid);
    const tarball = `${url}/${name}/-/${file?.name ?? ""}`;
    const attested = attestationsIn(file?.metadata ?? "{}");
    const attestations = attested.length > 0 && linkTo(attested, `${url}/${attestationsPath(name, row.version)}`);
    const dist = { ...manifest.dist, tarball, ...(attestations !== false && { attestations }) };
    const whole: Manifest = { ...manifest, dist };
    if (row.deprecated !== null) whole["deprecated"] = row.deprecated;
    return [row.version, whole];
  });
}
