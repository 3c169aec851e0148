import { parseJson } from "@moorage/kernel/lib/json";
import type { AskedLibrary } from "@moorage/security/security";
import { libraryError } from "../http/errors.ts";
import { isRecord } from "./manifest.ts";

const MAX_PACKAGES = 20_000;
/** Of one package: an installation has a handful of most. */
const MAX_VERSIONS = 200;
const MAX_VERSIONS_IN_ALL = 100_000;
const MAX_NAME_CHARS = 214;
/** Longer texts are no versions. Source: node-semver. */
const MAX_VERSION_CHARS = 256;
const MAX_DEPTH = 8;
const MAX_VALUES = 1_000_000;

/** The packages and versions of the body of an audit: `{"<name>": ["<version>", …]}`. Throws 400 and 413. */
export function askedIn({ body }: { body: Uint8Array }): AskedLibrary[] {
  const parsed = parsedBody(Buffer.from(body.buffer, body.byteOffset, body.length));
  const entries = isRecord(parsed) ? Object.entries(parsed) : undefined;
  const isValid = entries?.every(
    ([, versions]) => Array.isArray(versions) && versions.every((version) => typeof version === "string"),
  );
  if (entries === undefined || isValid !== true)
    throw libraryError(400, "Invalid argument: body: must be an object of lists of versions by package");
  if (entries.length > MAX_PACKAGES)
    throw libraryError(413, `Invalid argument: body: has more than ${MAX_PACKAGES} packages`);
  const asked = entries.flatMap(([full, versions]): AskedLibrary[] => {
    // No record is about a package of such a name.
    if (full.length > MAX_NAME_CHARS) return [];
    const cut = full.startsWith("@") ? full.indexOf("/") : -1;
    return [
      {
        type: "npm",
        namespace: cut < 0 ? "" : full.slice(0, cut),
        name: full.slice(cut + 1),
        versions: (versions as string[]).slice(0, MAX_VERSIONS).filter(({ length }) => length <= MAX_VERSION_CHARS),
      },
    ];
  });
  if (asked.reduce((sum, { versions }) => sum + versions.length, 0) > MAX_VERSIONS_IN_ALL)
    throw libraryError(413, `Invalid argument: body: has more than ${MAX_VERSIONS_IN_ALL} versions`);
  return asked;
}

function parsedBody(body: Buffer): unknown {
  try {
    return parseJson(body.toString(), MAX_DEPTH, MAX_VALUES);
  } catch {
    throw libraryError(400, "Invalid argument: body: is not JSON, or has too many values");
  }
}
