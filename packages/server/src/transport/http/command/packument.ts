import { type CommandFiles, PACKAGE } from "./files.ts";

/** The name of the package's file in the registry; undefined when there is no package. */
export async function tarballName(files: CommandFiles): Promise<string | undefined> {
  const manifest = await files.manifest();
  return manifest === undefined ? undefined : `moorage-${String(manifest["version"])}.tgz`;
}

/**
 * The packument of the one version that there is, for a registry at this URL; undefined when there is no package.
 * Source: npm/registry, package-metadata.md.
 */
export async function packument(files: CommandFiles, url: string): Promise<string | undefined> {
  const manifest = await files.manifest();
  const file = manifest && (await files.open(PACKAGE));
  if (file === undefined) return undefined;
  await file.handle.close();
  const version = String(manifest?.["version"]);
  const dist = { tarball: `${url}/-/${await tarballName(files)}`, integrity: file.integrity };
  return JSON.stringify({
    name: "moorage",
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, dist } },
  });
}
