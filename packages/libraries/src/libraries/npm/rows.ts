import type { Row } from "@moorage/kernel/store";
import { attestationsIn, attestationsPath, linkTo } from "./attestations.ts";
import type { Manifest } from "./manifest.ts";

/** The versions of a package in a group, and their tarballs. */
interface PackageRows {
  versions: Row<"artifact_versions">[];
  files: Row<"artifact_files">[];
}

/** The versions with what clients read of them, the earliest first. */
export function manifestsOf(
  { name }: Pick<Row<"artifacts">, "name">,
  { versions, files }: PackageRows,
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
