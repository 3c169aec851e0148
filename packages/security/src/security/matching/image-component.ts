import { fullName, parsedPurl, type Purl, readRelease } from "@moorage/kernel/lib/purls";
import type { Row } from "@moorage/kernel/store";
import type { ImageComponent } from "./package-keys.ts";

/** The package in the terms of keys. Undefined for a purl that cannot be read. */
export function componentOf(row: Omit<Row<"packages">, "matched">): ImageComponent | undefined {
  const purl = parsedPurl(row.purl);
  if (purl === undefined) return undefined;
  const { type, qualifiers } = purl;
  const distribution = readRelease(qualifiers.get("distro") ?? "", purl.namespace);
  return {
    type,
    ...namesOf(purl, row.name),
    version: row.version,
    sourceName: row.source_name,
    sourceVersion: row.source_version,
    ...(distribution !== undefined && { distribution }),
  };
}

/** Purls have names of npm in lower case; what the package has may have capital letters. */
function namesOf(purl: Purl, written: string): Pick<Purl, "namespace" | "name"> {
  const { type, namespace, name } = purl;
  if (type !== "npm" || written.toLowerCase() !== fullName(purl)) return { namespace, name };
  return { namespace: written.slice(0, namespace.length), name: written.slice(-name.length) };
}
