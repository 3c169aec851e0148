// `moorage images referrers`: what is attached to an image.
import { pin } from "../api/image-digest.ts";
import { objectIn, objectsIn, textIn } from "../api/json-fields.ts";
import { readManifest, readReferrers } from "../api/registry-content.ts";
import type { JsonObject } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import type { Listing } from "../output/listing.ts";
import { printList, printMessage } from "../output/output.ts";
import { printsTables } from "./report.ts";
import { openSession, type TaskFlags } from "./session.ts";

/** The columns of referrers: what each is, since when, and its digest. */
export const REFERRERS: Listing = {
  field: "manifests",
  columns: [
    { header: "TYPE", flexible: true, value: kindOf },
    { header: "DIGEST", kind: "digest", value: (each) => textIn(each, "digest") },
    { header: "SIZE", kind: "bytes", right: true, value: (each) => textIn(each, "size") },
    {
      header: "CREATED",
      kind: "time",
      value: (each) => textIn(objectIn(each, "annotations"), "org.opencontainers.image.created"),
    },
    { header: "ARTIFACT TYPE", wide: true, value: (each) => textIn(each, "artifactType") },
  ],
  nameOf: (each) => textIn(each, "digest"),
  idOf: (each) => textIn(each, "digest"),
};

const SIGNATURES = [
  ["sigstore", "bundle"],
  ["cosign", "signature"],
  ["notary", "signature"],
] as const;

function hasInOrder(text: string, first: string, second: string): boolean {
  const at = text.indexOf(first);
  return at >= 0 && text.includes(second, at + first.length);
}

/** What a referrer is, in a word where its type is known. */
function kindOf(referrer: JsonObject): string {
  const type = textIn(referrer, "artifactType") || textIn(referrer, "mediaType");
  if (SIGNATURES.some(([tool, what]) => hasInOrder(type.toLowerCase(), tool, what))) return "signature";
  if (/spdx|cyclonedx/i.test(type)) return "SBOM";
  if (/in-toto|attestation/i.test(type)) return "attestation";
  if (/openvex|vex/i.test(type)) return "VEX";
  return type;
}

/** Prints the referrers of an image, or of one image of an index. */
export async function printReferrers(
  reference: string,
  { artifactType, platform, ...flags }: TaskFlags & { artifactType?: string; platform?: string },
): Promise<void> {
  const session = await openSession(flags);
  const { name, digest } = await pin(session, await session.names.imageOf(reference));
  const own = platform === undefined ? digest : await digestOfPlatform(session.rest, name, digest, platform);
  const all = await readReferrers(session.rest, name, own);
  const found = all.filter((each) => artifactType === undefined || textIn(each, "artifactType") === artifactType);
  if (found.length === 0 && printsTables(flags)) return printMessage(`nothing is attached to ${name}@${own}`);
  const items = async function* () {
    yield* found;
  };
  await printList(items(), REFERRERS, flags);
}

async function digestOfPlatform(
  rest: Parameters<typeof readManifest>[0],
  name: string,
  digest: string,
  platform: string,
): Promise<string> {
  const { content } = await readManifest(rest, name, digest);
  const images = objectsIn(content, "manifests");
  const found = images.find((each) => platformOf(objectIn(each, "platform")) === platform);
  if (found !== undefined) return textIn(found, "digest");
  const names = images.map((each) => platformOf(objectIn(each, "platform"))).filter((each) => each !== "");
  throw new Failure(`--platform: the image has no ${platform}`, {
    exit: EXIT.notFound,
    ...(names.length > 0 && { hint: `it has ${names.join(", ")}` }),
  });
}

/** The platform of an image, such as `linux/arm/v7`; empty without one. Source: OCI image index. */
export function platformOf(platform: JsonObject): string {
  return [textIn(platform, "os"), textIn(platform, "architecture"), textIn(platform, "variant")]
    .filter((part) => part !== "")
    .join("/");
}
