import { libraryError } from "../http/errors.ts";
import type { LibraryExchange } from "../requests/exchange.ts";
import { findDocument, type Found, type OfferedDocument } from "../requests/document.ts";
import { type Named, removedIn } from "../requests/resolve.ts";
import { failureAnswer, UpstreamFailure } from "../upstreams/errors.ts";
import { packageDocument } from "./tasks.ts";
import { isUpstreamName, type PackageKind } from "./upstream-document.ts";

/** A package that a path names. */
export interface PackagePath {
  group: readonly string[];
  name: string;
}

/** A package, with what its upstream says of it. */
export type FoundPackage = Found<PackageKind>;

/** What the path of a package names. */
export function packageNamed({ group, name }: PackagePath): Named {
  return { group, name, normalized: name, missing: `Not found: ${name}`, mayAsk: () => isUpstreamName(name) };
}

/** The document of a package. Source: npm/registry, package-metadata.md, "full". */
export function offeredPackage(name: string): (upstream: { url: string }) => OfferedDocument<PackageKind> {
  return ({ url }) => ({
    name,
    wanted: {
      kind: packageDocument,
      args: { name },
      url: `${url}/${name.replace("/", "%2f")}`,
      accept: "application/json",
    },
  });
}

/** The package that a path names. Throws 403 and 404; 502 and 503 when the upstream fails and nothing is kept of it. */
export async function findPackage(exchange: LibraryExchange, path: PackagePath): Promise<FoundPackage> {
  return await findDocument(exchange, packageNamed(path), offeredPackage(path.name));
}

/** Whether the group has removed this version of a package that it merges. */
export async function isRemoved(exchange: LibraryExchange, found: FoundPackage, version: string): Promise<boolean> {
  return (await removedIn(exchange, found)).has(version);
}

/** Of a version that is not offered: undefined when the upstream has none. Throws 502 for one that is not served. */
export async function notServed({ document, named: { name } }: FoundPackage, version: string): Promise<undefined> {
  const { tooLarge = [] } = (await document?.head()) ?? {};
  if (tooLarge.includes(version))
    throw failureAnswer(new UpstreamFailure("wrong", `its manifest of ${name}@${version} is too large to be served`));
  return undefined;
}

/** The error of a file that is not there. */
export function noFile(file: string): Error {
  return libraryError(404, `Not found: ${file}`);
}
