import { PackageURL } from "packageurl-js";

/** Purls of images, whose version is a digest. */
export const IMAGE_TYPES: ReadonlySet<string> = new Set(["oci", "docker"]);

/** The purl; undefined for what is none. */
export function parsedPurl(text: string): PackageURL | undefined {
  try {
    return text.startsWith("pkg:") ? PackageURL.fromString(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The name, of which PyPI has several ways to write one. Source: PEP 503. */
export function comparableName({ type, name }: Pick<PackageURL, "type" | "name">): string {
  return type === "pypi" ? name.toLowerCase().replaceAll(/[-_.]+/g, "-") : name;
}
