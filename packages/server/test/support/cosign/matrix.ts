// The rows of the matrix on a real server: who signs, what is asked for, and what the registry answers.
import assert from "node:assert/strict";
import { pushIndex } from "../catalog/push.ts";
import { eventually } from "../eventually.ts";
import type { Platform } from "../platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../signed-repo.ts";
import { listSignatures } from "../signing.ts";
import { ATTESTATION_ROWS } from "./attestation-rows.ts";
import { FORM_ROWS } from "./form-rows.ts";
import { IDENTITY_ROWS } from "./identity-rows.ts";
import { IMAGE_ROWS } from "./image-rows.ts";
import { KEY_ROWS } from "./key-rows.ts";
import type { Pems, Row, RowKey } from "./rows.ts";

export const ROWS: readonly Row[] = [...KEY_ROWS, ...IMAGE_ROWS, ...FORM_ROWS, ...ATTESTATION_ROWS, ...IDENTITY_ROWS];

/** A repo of a group that is named after the row, in which images need what the row asks for. */
export async function openRow(platform: Platform, { id, signer, rule, policy }: Row, pems: Pems): Promise<SignedRepo> {
  const repo = await openSignedRepo(platform, undefined, undefined, id);
  const fields = "keys" in signer ? { keys: signer.keys.map((key) => keyOf(key, pems)) } : signer;
  const { uid } = await platform.ok("POST", `/registry/v2/signers/${repo.group}`, { name: "signer", ...fields });
  await newPolicy(platform, repo.group, { rules: [{ signers: [uid], ...rule }], ...policy });
  return repo;
}

function keyOf(key: RowKey, pems: Pems): object {
  if (typeof key === "string") return { pem: pems[key] };
  const { key: name, ...bounds } = key;
  return { pem: pems[name], ...bounds };
}

/** The row's image, or its index, as it is pushed before it is signed. */
export interface Pushed {
  digest: string;
  index: string;
  children: readonly string[];
}

export async function pushImage(repo: SignedRepo, { of = "image" }: Row): Promise<Pushed> {
  const first = await repo.push("v1");
  if (of === "image") return { digest: first, index: "", children: [] };
  const children = [first, await repo.push("v2")];
  const index = await pushIndex(
    repo,
    "index",
    children.map((each, at) => [each, { os: "linux", architecture: ["amd64", "arm64"][at] ?? "" }]),
  );
  return { digest: of === "index" ? index : first, index, children };
}

/** Whether the registry answers a pull, once it has verified what is attached: decision and pull never differ. */
export async function registryAnswers(
  platform: Platform,
  repo: SignedRepo,
  { digest, index, children }: Pushed,
): Promise<boolean> {
  const all = new Set([digest, ...children, ...(index === "" ? [] : [index])]);
  const held = await eventually(async () => {
    const listed = await Promise.all([...all].map((each) => listSignatures(platform, repo, each)));
    const pending = listed.some((each) => each.pending);
    const decision = await platform.ok("GET", `/registry/v2/repos/${repo.repo}/digests/${digest}/signatureDecision`);
    return !pending && decision["waiting"] !== true && { is: decision["held"] === true, message: decision.message };
  });
  const { status, text } = await eventually(async () => {
    const answer = await repo.pull(digest);
    return answer.status !== 503 && answer;
  });
  assert.equal(
    status,
    held.is ? 403 : 200,
    `the decision is ${held.is ? held.message : "to answer"}, the pull is ${text}`,
  );
  return status === 200;
}
