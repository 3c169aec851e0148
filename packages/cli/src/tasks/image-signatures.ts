// `moorage images signatures`: who has signed an image, what for, and whether that holds.
import { setTimeout as sleep } from "node:timers/promises";
import { pin } from "../api/image-digest.ts";
import { numberIn, objectsIn, textIn, wordIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { timeOfFlag } from "../api/time-flags.ts";
import { durationOfFlag } from "../command/duration.ts";
import { interruption } from "../command/interrupt.ts";
import type { Color } from "../output/color.ts";
import type { Listing } from "../output/listing.ts";
import { printList, printMessage } from "../output/output.ts";
import { printsTables } from "./report.ts";
import { openSession, type Session, type TaskFlags } from "./session.ts";

const ASK_EVERY_MS = 1000;

export interface SignaturesFlags extends TaskFlags {
  asOf?: string;
  wait?: string;
}

const STATE_COLORS: Readonly<Record<string, Color>> = {
  trusted: "green",
  invalid: "red",
  revoked: "red",
  expired: "yellow",
  waiting: "yellow",
};

const stateOf = (signature: JsonObject): string => wordIn(signature, "state", "SIGNATURE_STATE_");

/** What attestations state, shortly, by how their predicate types begin. */
const PREDICATES: Readonly<Record<string, string>> = {
  "https://slsa.dev/provenance/": "provenance",
  "https://slsa.dev/verification_summary/": "verification summary",
  "https://spdx.dev/Document": "SPDX",
  "https://cyclonedx.org/": "CycloneDX",
  "https://openvex.dev/ns": "OpenVEX",
  "https://cosign.sigstore.dev/attestation/vuln/": "vulnerabilities",
};

/** What is signed: the image, or what an attestation states. Of unknown types only the scheme is left out. */
function saysOf(signature: JsonObject): string {
  const type = textIn(signature, "predicateType");
  const known = Object.entries(PREDICATES).find(([start]) => type.startsWith(start))?.[1];
  return known ?? (type === "" ? "image" : type.replace("https://", ""));
}

export const SIGNATURES: Listing = {
  field: "signatures",
  columns: [
    { header: "STATE", value: stateOf, color: (each) => STATE_COLORS[stateOf(each)] },
    { header: "SIGNED BY", value: signersOf },
    { header: "SAYS", value: saysOf, flexible: true },
    { header: "ATTACHED", kind: "time", value: (each) => textIn(each, "attachTime") },
    { header: "WHY", value: (each) => textIn(each, "reason"), flexible: true },
    { header: "PREDICATE", wide: true, value: (each) => textIn(each, "predicateType") },
    { header: "FORMAT", wide: true, value: (each) => wordIn(each, "format", "SIGNATURE_FORMAT_") },
    { header: "ATTACHED BY", wide: true, value: (each, pathOf) => pathOf(textIn(each, "attachedBy"), "identity") },
    { header: "IDENTITY", wide: true, value: (each) => textIn(each, "identity") },
    { header: "SIGNED", wide: true, kind: "time", value: (each) => textIn(each, "signedTime") },
    { header: "TAG", wide: true, value: (each) => textIn(each, "source") },
    { header: "MANIFEST", wide: true, kind: "digest", value: (each) => textIn(each, "manifest") },
  ],
  nameOf: (each) => `${textIn(each, "manifest")}/${numberIn(each, "number")}`,
  idOf: (each) => `${textIn(each, "manifest")}/${numberIn(each, "number")}`,
};

/** The signers by whom it is worth as much as it is in all, where one of them has made it. */
function signersOf(signature: JsonObject): string {
  return objectsIn(signature, "verdicts")
    .filter((each) => textIn(each, "state") === textIn(signature, "state") && textIn(each, "fromTime") !== "")
    .map((each) => textIn(each, "signerName") || "a deleted signer")
    .join(", ");
}

/** Prints the signatures of an image as they are now, or as they were at the time of the flag or of the reference. */
export async function printSignatures(reference: string, flags: SignaturesFlags): Promise<void> {
  const session = await openSession(flags);
  const { repo, digest, name, timeMs } = await pin(session, await session.names.imageOf(reference));
  const asOfMs = flags.asOf === undefined ? timeMs : timeOfFlag("--as-of", flags.asOf).lastMs;
  const answer = await readWithin(session, flags.wait, `/registry/v2/repos/${repo}/digests/${digest}/signatures`, {
    ...(asOfMs !== undefined && { as_of: new Date(Math.min(asOfMs, Date.now())).toISOString() }),
  });
  const found = objectsIn(answer, "signatures");
  const label = `${name}@${digest}`;
  const items = async function* () {
    yield* found;
  };
  const { signatures: _, ...behind } = answer;
  if (found.length > 0 || !printsTables(flags))
    await printList(items(), SIGNATURES, flags, { behind: () => behind, pathOf: session.names.pathOf });
  else if (answer["pending"] !== true) printMessage(`${label} has no signatures`);
  if (answer["pending"] === true) printMessage(`moorage: not all is known yet: wait for it with --wait 60s`);
  const leftOut = numberIn(answer, "leftOut");
  if (leftOut > 0)
    printMessage(`moorage: ${leftOut} more are attached that were not looked at: an image has 100 at most`);
}

/** Asks again for so long, while something waits to be verified. */
async function readWithin(
  { rest }: Session,
  wait: string | undefined,
  path: string,
  query: Record<string, string>,
): Promise<JsonObject> {
  const endMs = Date.now() + (wait === undefined ? 0 : durationOfFlag("--wait", wait));
  for (;;) {
    const answer = await rest.call("GET", path, { query });
    const isWaiting = answer["pending"] === true || objectsIn(answer, "signatures").some(waits);
    if (!isWaiting || Date.now() >= endMs) return answer;
    await sleep(ASK_EVERY_MS, undefined, { signal: interruption() });
  }
}

/** Whether it waits to be verified, against all signers or one that is new. */
function waits(signature: JsonObject): boolean {
  return [signature, ...objectsIn(signature, "verdicts")].some((each) => stateOf(each) === "waiting");
}
