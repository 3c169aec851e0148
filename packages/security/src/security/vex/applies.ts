import { IMAGE_TYPES, parsedPurl, purlMatcher, type PurlOfPackage } from "@moorage/kernel/lib/purls";
import type { Row } from "@moorage/kernel/store";

/**
 * What in the image a statement is about, if it is attached to the digest: a purl, or empty for the whole image.
 * Undefined when it is about something else. Whatever has a name of its own is the image only if the name has its
 * digest.
 */
export function targetOf(
  { product, component }: { product: string; component: string },
  digest: string,
): string | undefined {
  const purl = parsedPurl(product);
  if (product !== "" && (purl === undefined || IMAGE_TYPES.has(purl.type))) {
    const isImage = product.includes(digest) || (purl !== undefined && ["", digest].includes(purl.version));
    if (!isImage) return undefined;
    return component === "" ? "" : packageIn(component);
  }
  if (product === "" && component === "") return "";
  return packageIn(component === "" ? product : component);
}

/** The purl of a package; undefined for what is none. */
function packageIn(text: string): string | undefined {
  const purl = parsedPurl(text);
  return purl === undefined || IMAGE_TYPES.has(purl.type) ? undefined : text;
}

/** A stored package as statements are asked about it. */
export function statedPackage(row: Pick<Row<"packages">, "purl" | "source_name" | "source_version">): PurlOfPackage {
  return { purl: row.purl, source: { name: row.source_name, version: row.source_version } };
}

/** Whether what a statement is about is the package: see purlMatcher. */
export function isAbout(target: string, held: PurlOfPackage): boolean {
  return target === "" || purlMatcher(target)?.(held) === true;
}
