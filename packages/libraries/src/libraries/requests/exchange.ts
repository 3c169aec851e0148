import type { Auditor } from "@moorage/kernel/audit";
import type { Authenticator, Exchanger, RefreshTokens, Tokens } from "@moorage/platform/auth";
import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import type { Addresses } from "@moorage/kernel/core/addresses";
import { ANONYMOUS, type Call, type Caller, type CallData } from "@moorage/kernel/core/call";
import type { Request, RequestData, Response } from "@moorage/kernel/core/http";
import type { ResponseCache } from "@moorage/kernel/core/response-cache";
import { RequestSteps } from "@moorage/kernel/core/request-steps";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Awaitable } from "@moorage/kernel/lib/awaitable";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { Reading } from "../reading/open.ts";
import type { DownloadCounter } from "../downloads/counter.ts";
import type { DownloadedVersion } from "../downloads/parts.ts";
import type { BlockRecorder } from "../blocks/recorder.ts";
import type { Upstreams } from "../upstreams/open.ts";
import type { Ecosystem } from "../ecosystem/ecosystem.ts";

/** The settings of the protocols of libraries. */
interface LibraryConfig
  extends
    Pick<Config, "registryAudience" | "registryTokenTtlMs" | "maxLibraryFileBytes" | "upstreamTtlMs">,
    Partial<Pick<Config, "blobsRedirectTtlMs" | "blobsInternalPath">> {
  /** How long a client may send or take nothing before its connection is closed. Defaults to one minute. */
  idleTimeoutMs?: number;
}

/** What the protocols of libraries work with. */
export interface LibraryDeps {
  transactor: Transactor;
  blobs: BlobStore;
  authenticate: Authenticator;
  credentials: {
    tokens: Pick<Tokens, "mint">;
    exchanger: Pick<Exchanger, "registryCaller">;
    refreshTokens: Pick<RefreshTokens, "read">;
  };
  /** What groups get from other registries. */
  upstreams: Pick<Upstreams, "documents" | "files" | "changed">;
  /** Where large documents are read. */
  reading: Reading;
  /** The response cache of GETs. */
  answers: ResponseCache<CachedAnswer>;
  /** Records rejected requests. */
  auditor: Pick<Auditor, "note">;
  /** Records what policies block. */
  blocks: Pick<BlockRecorder, "note">;
  /** Counts downloads. Without it there are no statistics of them. */
  downloads?: Pick<DownloadCounter, "note"> | undefined;
  config: LibraryConfig;
  /** Under which URL a client reaches the registry. */
  addresses: Pick<Addresses, "registry" | "isProxied">;
  clock: Clock;
  log: { error(fields: object, message: string): void };
}

/**
 * One request of a client of libraries. `caller` and `callData` are those of the anonymous caller until `authenticate`
 * has set them.
 */
export interface LibraryExchange {
  req: Request;
  res: Response;
  data: RequestData;
  deps: LibraryDeps;
  steps: RequestSteps<CachedAnswer>;
  /** What is asked for, as metrics name it; empty until that is known. */
  verb: string;
  /** What an answer with the whole file counts as a download of. Undefined for what is no download. */
  download?: DownloadedVersion | undefined;
  /** Each answer to this request is recorded, so that it must be worked on each time. Defaults to no. */
  isRecorded?: boolean;
  /**
   * Until when the answer to the same request is the same if nothing is committed, in milliseconds since 1970.
   * Undefined, or in the past: nobody knows.
   */
  goodUntilMs?: number | undefined;
  ecosystem: Ecosystem;
  /** The segments of the path after that of the ecosystem, such as `/npm/`, percent-decoded. */
  segments: readonly string[];
  query: URLSearchParams;
  caller: Caller;
  callData: CallData;
}

/** Creates an exchange, before its caller is authenticated. The time of the call is read here, once. */
export function openExchange(
  req: Request,
  res: Response,
  data: RequestData,
  deps: LibraryDeps,
  place: Pick<LibraryExchange, "ecosystem" | "segments" | "query">,
): LibraryExchange {
  const callData = {
    caller: ANONYMOUS,
    requestId: data.requestId,
    nowMs: deps.clock.nowMs(),
    remoteAddress: data.remoteAddress,
    userAgent: req.headers["user-agent"] ?? "",
  };
  return {
    req,
    res,
    data,
    deps,
    ...place,
    steps: new RequestSteps(data, deps.answers),
    verb: "",
    caller: ANONYMOUS,
    callData,
  };
}

/** Runs the work on a reader, as the exchange's caller. */
export function read<T>({ deps, callData }: LibraryExchange, work: (call: Call) => Awaitable<T>): Promise<T> {
  return deps.transactor.read(callData, work);
}

/**
 * The URL below which the group's libraries of the exchange's ecosystem are for its client, without a slash at the end.
 */
export function urlOf(exchange: LibraryExchange, groupPath: string): string {
  return `${exchange.deps.addresses.registry(exchange.req)}${pathOf(exchange, groupPath)}`;
}

/** The path of that URL. */
export function pathOf({ ecosystem }: Pick<LibraryExchange, "ecosystem">, groupPath: string): string {
  return `/${ecosystem.key}/${groupPath.split("/").map(encodeURIComponent).join("/")}`;
}

/** What asks upstreams: the rest of the request waits for them, and no longer has its turn. */
export function upstreamsOf({ data, deps }: Pick<LibraryExchange, "data" | "deps">): LibraryDeps["upstreams"] {
  data.turn?.end();
  return deps.upstreams;
}

/** A whole answer with status 200 to a GET. The body has one character for each byte. */
export interface CachedAnswer {
  /** What it counts as in metrics. */
  verb: string;
  headers: Readonly<Record<string, string>> & { etag: string };
  body: string;
  /** What it counts as a download of. */
  download?: DownloadedVersion | undefined;
  /** Until when it is valid when nothing is committed, in milliseconds since 1970. */
  untilMs: number;
}
