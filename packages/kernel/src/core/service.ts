import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Capability } from "@moorage/api/messages";
import type { Stored } from "./stored-answer.ts";
import type { Awaitable } from "../lib/awaitable.ts";
import type { GuardedFetch } from "../lib/guarded-fetch.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { Call } from "./call.ts";
import { permissionDenied } from "../errors.ts";

/**
 * A service as a feature implements it, with every method. A reading method may answer in the stored form. A stream
 * only reads: it makes each answer when the next one is asked for, and throws the signal's reason soon after the signal
 * is aborted.
 */
export type Service<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary<infer I, infer O>
    ? (call: Call, request: MessageShape<I>) => Awaitable<MessageInitShape<O> | Stored<O>>
    : S["method"][K] extends DescMethodServerStreaming<infer I, infer O>
      ? (call: Call, request: MessageShape<I>, signal: AbortSignal) => AsyncIterable<MessageInitShape<O>>
      : never;
};

/** A service of the API with what implements it. */
export interface ServedService {
  readonly desc: DescService;
  make(context: ServiceContext): Service<DescService>;
}

/** Declares that a service of the API is implemented by what `make` returns. */
export function served<S extends DescService>(desc: S, make: (context: ServiceContext) => Service<S>): ServedService {
  return { desc, make };
}

/** What services are made with. */
export interface ServiceContext {
  /** Seals page tokens. Constant over the installation's lifetime. */
  pageTokenKey: Uint8Array;
  /** The uid of the built-in role `owner`. */
  ownerRole: string;
  /** Encrypts secrets that are stored in the database. */
  secrets: Secrets;
  /** What runs here, for its operators. Undefined where no requests are answered. */
  installation?: ServedInstallation;
  /** The URL of the installation: the source of its events, and where people sign in. */
  baseUrl?: string;
  /** Whether the installation sends mail. Defaults to false. */
  sendsMail?: boolean;
  /** The URL of the registry, of whose host image paths are. Defaults to `baseUrl`. */
  registryUrl?: string;
  /** Whether sources of mirrors may be plain http and at addresses that are not public. Defaults to true. */
  allowPrivateNetwork?: boolean;
  /** Whether there is a trusted root of Sigstore, by which signatures of identities are verified. Defaults to no. */
  hasSigstoreRoot?: boolean;
  /** Whether authorities are asked if they have revoked certificates: MOORAGE_REVOCATION. Defaults to no. */
  asksAuthorities?: boolean;
  /** The prefix of event types, e.g. `dev.moorage`. */
  eventsPrefix: string;
  /** Reads a small blob of a repo whole. Undefined when the repo does not hold it, or it is larger than `maxBytes`. */
  readBlob(call: Call, repo: string, digest: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Uids of identities that may create organizations, and read audit entries that belong to none. Defaults to none. */
  admins?: readonly string[];
  /** `domain=issuer`: who may vouch for e-mail addresses of a domain to every organization. Defaults to none. */
  emailIssuers?: readonly string[];
  /** The documents that can be accepted. Defaults to none. */
  terms?: readonly TermsDocument[];
  /** Whether callers without a token are answered by what the feeds say. Defaults to false. */
  publicAdvisories?: boolean;
  /** The name of the organization with images that are pulled without a log-in. Defaults to none. */
  publicOrganization?: string;
  /** The tags of those images. Defaults to none. */
  freeTierTags?: string[];
  /**
   * The modules of ecosystems of libraries beside those that every server has, by URL: see loadEcosystems of
   * libraries. Each process and thread that makes services has loaded them. Defaults to none.
   */
  ecosystems?: readonly string[];
  /** Undefined where no network requests are made. */
  providers?: AccountProviders;
  /** Undefined where no network requests are made. */
  sinks?: SinkTests;
  /** Undefined where no network requests are made. */
  issuers?: IssuerKeys;
}

/** The installation, as the process that serves it knows it. */
export interface ServedInstallation {
  /** The uid of the first organization: its operators are those of the installation. */
  organization: string;
  version: string;
  engine: "sqlite" | "postgres";
  blobStore: "files" | "s3";
  /** When the process was started, in milliseconds since 1970. */
  startMs: number;
  /** How long content stays after nothing needs it any more. */
  gcGraceMs: number;
  /** How long an upload may receive no bytes. */
  uploadTtlMs: number;
  /** The URL below which presets of feeds are fetched; empty for where they are published. */
  feedsMirror: string;
  /** The folder with the database, the blobs, or both. Undefined where neither is in a folder of the server. */
  dataDir?: string;
}

/** A document that can be accepted for a group. Source: the setting MOORAGE_TERMS_FILE. */
export interface TermsDocument {
  id: string;
  label: string;
  url: string;
  /**
   * Actions that are blocked until a group has accepted the document: methods by full name, e.g.
   * `moorage.registry.v2.ReposService.CreateRepo`, and `push`.
   */
  blocks: readonly string[];
}

/** Why an issuer's keys cannot be used: a reason of CheckIdentityResponse, and a message for people. */
export interface IssuerFault {
  reason: "UNREACHABLE" | "REFUSED" | "NO_KEYS";
  message: string;
}

/** The keys that issuers of tokens publish. */
export interface IssuerKeys {
  /**
   * Why the keys of an issuer cannot be used, by those that are cached or by asking it as an exchange would; undefined
   * when they can. Throws UNAVAILABLE when too many issuers are being asked. `organization`: the one whose identity
   * names the issuer.
   */
  faultOf(issuer: string, nowMs: number, organization: string): Promise<IssuerFault | undefined>;
}

/** Sends test events to addresses that have no subscription. */
export interface SinkTests {
  /**
   * Sends one event to the sink, and answers what came back. `format`: the number of the SubscriptionFormat. Throws
   * INVALID_ARGUMENT on `sink` when it may not be sent to, RESOURCE_EXHAUSTED when too many of the organization's are
   * under way.
   */
  test(asked: { group: string; sink: string; format: number; identity: string; nowMs: number }): Promise<SinkOutcome>;
}

/** What became of one test. */
interface SinkOutcome {
  isDelivered: boolean;
  /** The HTTP status; 0 without an answer. */
  status: number;
  /** Why there was no answer, or nothing was sent; empty otherwise. */
  error: string;
  latencyMs: number;
}

/** How to ask cloud providers whether they trust this installation. */
export interface AccountProviders {
  /** Origins, without a slash at the end. */
  awsStsUrl: string;
  googleStsUrl: string;
  azureLoginUrl: string;
  fetch: GuardedFetch;
  /** An ID token of this installation whose subject is the group's uid. */
  idToken(group: string, audience: string, nowMs: number): Promise<string>;
}

/**
 * A caller can give only capabilities that it holds. Throws PERMISSION_DENIED with the missing ones. Source:
 * docs/contract.md, "Capabilities and roles".
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
