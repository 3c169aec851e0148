// What the processes do that verify signatures: they read what somebody else made, and may have to be killed.
import { SignatureCode, SignatureFormat, SignatureTime } from "@moorage/api/messages";
import { type BlobStore, openBlobs, readInto } from "@moorage/kernel/blobs";
import { serveTasks } from "@moorage/kernel/lib/process-pool/child";
import { DSSE, isBundle, isNotation, SIMPLE_SIGNING } from "../attached/formats.ts";
import type { ClaimedLayer, ClaimedSigned } from "../queue/claim-contents.ts";
import type { TrustedRoots, VerifiedEntry } from "../verify/types.ts";
import { verifySigned } from "../verify/verify.ts";
import type { VerifiedManifest, VerifierData } from "./verifier.ts";

const MIB = 1 << 20;
/** The largest content of a layer that is read, in bytes, by its type; nothing of others is. */
const LARGEST: readonly [is: (type: string) => boolean, bytes: number][] = [
  [(type) => type === SIMPLE_SIGNING, 64 << 10],
  [(type) => type === DSSE || isBundle(type), 64 * MIB],
  [isNotation, MIB],
];

const NO_ROOT = { missing: "the server has no trust root: MOORAGE_SIGSTORE_ROOT or MOORAGE_SIGSTORE_TUF_URL" };
const NOT_ALONE = "a manifest of Notation has exactly one layer";

let opened: Promise<BlobStore> | undefined;

/** The store, which these processes only read. A store that could not be opened is opened again for the next. */
async function blobsOf({ dataDir, blobsUrl }: VerifierData): Promise<BlobStore> {
  opened ??= openBlobs({ dataDir, blobsUrl, diskReserveBytes: 0 });
  try {
    return await opened;
  } catch (error) {
    opened = undefined;
    throw error;
  }
}

async function verify(
  { layers, layersLeftOut, signers, trustRoots, statuses, ...claimed }: ClaimedSigned & { nowMs: number },
  data: VerifierData,
): Promise<VerifiedManifest> {
  const entries: VerifiedEntry[] = [];
  const rootOf: TrustedRoots = (name) =>
    name === "" && data.sigstoreRoot !== "" ? { json: data.sigstoreRoot } : (trustRoots[name] ?? NO_ROOT);
  // One after another: each may be large.
  for (const layer of layers) {
    const { n, mediaType, annotations } = layer;
    const isAlone = layers.length + layersLeftOut === 1;
    const content = isNotation(mediaType) && !isAlone ? NOT_ALONE : await contentOf(layer, data);
    const one = { n, mediaType, annotations, content };
    const { subject, subjectContent, subjectMediaType, heldMs, nowMs } = claimed;
    const asked = { statuses, isAsking: data.isAsking };
    const about = { subject, subjectContent, subjectMediaType, asked, heldMs, nowMs };
    entries.push(...(await verifySigned({ ...about, signers, layers: [one] }, rootOf)));
  }
  if (layers.length === 0) entries.push(notVerified(0, "the manifest has no layers, and so no signatures"));
  if (layersLeftOut > 0)
    entries.push(
      notVerified(
        layers.length,
        `${layersLeftOut} more layers are not verified: a manifest has ${layers.length} at most`,
      ),
    );
  const needs = entries.flatMap((entry) => entry.needs ?? []);
  return { entries: entries.map(({ needs: _needs, ...entry }) => entry), needs };
}

function notVerified(n: number, reason: string): VerifiedEntry {
  const code = SignatureCode.UNREADABLE;
  return {
    n,
    code,
    reason,
    matches: [],
    predicateType: "",
    identity: "",
    format: SignatureFormat.UNSPECIFIED,
    timeSource: SignatureTime.UNSPECIFIED,
  };
}

/** The content of the layer, or why it is not read. */
async function contentOf({ mediaType, stored }: ClaimedLayer, data: VerifierData): Promise<Uint8Array | string> {
  const most = LARGEST.find(([is]) => is(mediaType))?.[1] ?? 0;
  if (stored === undefined) return "its content is not stored here";
  if (stored.size > most) return `it has ${stored.size} bytes, more than ${most}`;
  return await readInto(await blobsOf(data), stored);
}

serveTasks({ verify });
