import { type BundledPackage, packagesOf } from "./packages.ts";

/**
 * The packages that the modules at these paths are of, as a CycloneDX document: scanners see no other trace of them
 * once they are bundled.
 */
export function sbomOf(modules: Iterable<string>, { name, version }: { name: string; version: string }): string {
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", "bom-ref": name, name, version } },
    components: packagesOf(modules).map(componentOf),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function componentOf({ name, version, license }: BundledPackage): object {
  const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    purl,
  };
}
