import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Capability } from "@moorage/api";
import type { Stored } from "./stored.ts";
import type { GuardedFetch } from "../lib/guarded-fetch.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { Call } from "./call.ts";
import { permissionDenied } from "../errors.ts";

/**
 * A service as a room implements it: every method must be there. What only reads may answer as it is stored. A stream
 * reads alone, for as long as its caller listens: it makes each answer when it is asked for the next one, and throws
 * the signal's reason soon after that is given.
 */
export type Service<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary<infer I, infer O>
    ? (call: Call, request: MessageShape<I>) => Promise<MessageInitShape<O> | Stored<O>>
    : S["method"][K] extends DescMethodServerStreaming<infer I, infer O>
      ? (call: Call, request: MessageShape<I>, signal: AbortSignal) => AsyncIterable<MessageInitShape<O>>
      : never;
};

/** What rooms are made with. */
export interface ServiceContext {
  /** Seals page tokens; the same as long as the installation lives. */
  pageTokenKey: Uint8Array;
  /** The uid of the built-in role `owner`. */
  ownerRole: string;
  /** Seals what is kept encrypted in the database. */
  secrets: Secrets;
  /** Where the installation is reached: the source of its events. Absent where none are told. */
  baseUrl?: string;
  /** What the types of events begin with, e.g. `dev.moorage`. */
  eventsPrefix: string;
  /** Reads a small blob of a repo whole. Undefined: the repo does not hold it, or it is larger than `maxBytes`. */
  readBlob(call: Call, repo: string, digest: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Uids of identities that may create organizations, and see what was done in none. Absent: nobody. */
  admins?: readonly string[];
  /** The documents that can be accepted. Absent: there are none. */
  terms?: readonly TermsDocument[];
  /** Absent where nothing is asked over the network. */
  providers?: AccountProviders;
}

/** A document that can be accepted for a group. Source: the setting MOORAGE_TERMS_FILE. */
export interface TermsDocument {
  id: string;
  label: string;
  url: string;
  /**
   * What a group may not do before: methods by full name, e.g. `moorage.registry.v2.ReposService.CreateRepo`, and
   * `push`.
   */
  blocks: readonly string[];
}

/** What is needed to ask other providers whether they let this installation in. */
export interface AccountProviders {
  /** Origins, without a slash at the end. */
  awsStsUrl: string;
  googleStsUrl: string;
  azureLoginUrl: string;
  fetch: GuardedFetch;
  /** An ID token of ours whose subject is the group's uid. */
  idToken(group: string, audience: string, nowMs: number): Promise<string>;
}

/**
 * Nobody gives away what it does not hold. Throws PERMISSION_DENIED that names what is missing. Source: contract §7.
 */
export async function requireHolds(
  call: Call,
  capabilities: Iterable<Capability>,
  group: string,
  nameOf: (capability: Capability) => string,
): Promise<void> {
  const missing: string[] = [];
  for (const capability of capabilities) if (!(await call.may(capability, group))) missing.push(nameOf(capability));
  if (missing.length > 0)
    throw permissionDenied("only capabilities that the caller holds can be given away", { missing: missing.join(",") });
}
