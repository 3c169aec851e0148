import type {
  DescMessage,
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import {
  type CallOptions,
  Code,
  ConnectError,
  createClient as createServiceClient,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { Transaction, transaction } from "../gen/moorage/common/options_pb.ts";
import type { Credentials } from "./credentials.ts";
import { type OrDates, type WithDates, withDates, withTimestamps } from "./dates.ts";
import { ApiError } from "./errors.ts";
import { type ItemOf, listed, type Listed, type Page } from "./paging.ts";
import { retryDelayMs, type RetryOptions, wait } from "./retry.ts";
import { SERVICES } from "./services.ts";

/** What a client needs to know. */
export interface ClientOptions<Dates extends boolean = false> {
  /** URL of the server, such as `https://registry.example.com`. */
  readonly url: string;
  /** An access token, for as long as it is good. Without token and credentials, only public methods can be called. */
  readonly token?: string;
  /** Where access tokens come from, for programs that outlive one: `exchangeCredentials`, or your own. */
  readonly credentials?: Credentials;
  /** Whether answers have Dates instead of Timestamps, and requests take them. */
  readonly dates?: Dates;
  /** The time limit of a call with its further attempts, in milliseconds. Default 30,000. Streams have none. */
  readonly timeoutMs?: number;
  /** How failed calls are tried again. */
  readonly retry?: RetryOptions;
}

type Answer<O extends DescMessage, Dates> = Dates extends true ? WithDates<MessageShape<O>> : MessageShape<O>;
type Request<I extends DescMessage, Dates> = Dates extends true ? OrDates<MessageInitShape<I>> : MessageInitShape<I>;
type Result<O extends DescMessage, Dates> =
  MessageShape<O> extends Page ? Listed<Answer<O, Dates>, ItemOf<Answer<O, Dates>>> : Promise<Answer<O, Dates>>;

/** A service's methods. */
export type ServiceClient<S extends DescService, Dates extends boolean = false> = {
  [Name in keyof S["method"]]: S["method"][Name] extends DescMethodUnary<infer I, infer O>
    ? (request: Request<I, Dates>, options?: CallOptions) => Result<O, Dates>
    : S["method"][Name] extends DescMethodServerStreaming<infer I, infer O>
      ? (request: Request<I, Dates>, options?: CallOptions) => AsyncIterable<Answer<O, Dates>>
      : never;
};

/** A server's platform API: a property for each service. */
export type MoorageClient<Dates extends boolean = false> = {
  [Name in keyof typeof SERVICES]: ServiceClient<(typeof SERVICES)[Name], Dates>;
};

/**
 * A client of a server's platform API. Its calls throw an ApiError. A list method's call is awaited for one page, or
 * iterated with `for await` for all items. It works in Node and in browsers, over HTTP/1.1 and HTTP/2 (Connect's
 * protocol, by fetch), and has nothing to close.
 */
export function createClient<Dates extends boolean = false>(options: ClientOptions<Dates>): MoorageClient<Dates> {
  if (options.token !== undefined && options.credentials !== undefined)
    throw new TypeError("token and credentials exclude each other");
  const transport = createConnectTransport({ baseUrl: options.url.replace(/(?<!\/)\/+$/, ""), useHttpGet: false });
  return Object.fromEntries(
    Object.entries(SERVICES).map(([name, service]) => [name, serviceClient(service, transport, options)]),
  ) as MoorageClient<Dates>;
}

type AnyUnary = (request: unknown, options?: CallOptions) => Promise<unknown>;
type AnyPage = Page & Record<string, unknown>;
type AnyStream = (request: unknown, options?: CallOptions) => AsyncIterable<unknown>;

function serviceClient(service: DescService, transport: Transport, options: ClientOptions<boolean>): unknown {
  const methods = createServiceClient(service, transport) as Record<string, AnyUnary & AnyStream>;
  const [inbound, outbound] = options.dates ? [withTimestamps, withDates] : [same, same];
  return Object.fromEntries(
    service.methods.map((method) => {
      const send = methods[method.localName] as AnyUnary & AnyStream;
      if (method.methodKind === "server_streaming") {
        const stream = (request: unknown, call?: CallOptions) => streamed(send, inbound(request), options, call);
        return [method.localName, (request: unknown, call?: CallOptions) => mapItems(stream(request, call), outbound)];
      }
      const unary = async (request: unknown, call?: CallOptions): Promise<unknown> =>
        outbound(await attempts(send, inbound(request), { options, call, method }));
      const items = itemsField(method);
      if (items === undefined) return [method.localName, unary];
      return [
        method.localName,
        (request: object, call?: CallOptions) =>
          listed(
            (pageToken) =>
              // Only the first page may be asked for with `skip`: the page token stands for what was skipped.
              unary(pageToken === undefined ? request : { ...request, pageToken, skip: 0 }, call) as Promise<AnyPage>,
            (page) => page[items] as unknown[],
          ),
      ];
    }),
  );
}

const same = (value: unknown): unknown => value;

/** The answer's field with the items, if the method lists by pages. */
function itemsField({ output }: DescMethod): string | undefined {
  if (!output.fields.some(({ localName }) => localName === "nextPageToken")) return undefined;
  return output.fields.find(({ fieldKind }) => fieldKind === "list")?.localName;
}

/** Calls until there is an answer, a final error, no attempt left, or no time left. */
async function attempts(
  send: AnyUnary,
  request: unknown,
  {
    options,
    call = {},
    method,
  }: { options: ClientOptions<boolean>; call: CallOptions | undefined; method: DescMethod },
): Promise<unknown> {
  const { retries = 4, maxDelayMs = 10_000 } = options.retry ?? {};
  const timeoutMs = call.timeoutMs ?? options.timeoutMs ?? 30_000;
  const endsAtMs = performance.now() + timeoutMs;
  const reads = getOption(method, transaction) === Transaction.READ;
  let rejected: string | undefined;
  for (let attempt = 0; ; attempt++) {
    const token = await tokenOf(options, rejected);
    try {
      const left = Math.max(1, Math.ceil(endsAtMs - performance.now()));
      return await send(request, { ...call, timeoutMs: left, headers: headersOf(call, token) });
    } catch (thrown) {
      const error = new ApiError(thrown);
      // A token may have been revoked before its end: credentials get one chance to bring another.
      if (error.code === Code.Unauthenticated && options.credentials !== undefined && rejected === undefined) {
        rejected = token;
        continue;
      }
      const delayMs = attempt < retries ? retryDelayMs(error, { attempt, reads, maxDelayMs }) : undefined;
      if (delayMs === undefined || performance.now() + delayMs >= endsAtMs) throw error;
      await wait(delayMs, call.signal);
    }
  }
}

/** One stream: when it breaks, the caller begins another where it stopped, since only the caller knows what it has. */
async function* streamed(
  send: AnyStream,
  request: unknown,
  options: ClientOptions<boolean>,
  call: CallOptions = {},
): AsyncIterable<unknown> {
  const token = await tokenOf(options, undefined);
  // Whoever breaks off a loop ends the request as well. The time limit is kept here, since the transport's timer would
  // go on, and keep the process alive.
  const { timeoutMs, signal: callers, ...rest } = call;
  const ending = new AbortController();
  const ended = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([ending.signal, callers, ended].filter((each) => each !== undefined));
  try {
    yield* send(request, { ...rest, signal, headers: headersOf(call, token) });
  } catch (thrown) {
    throw new ApiError(ended?.aborted ? new ConnectError("the time limit is over", Code.DeadlineExceeded) : thrown);
  } finally {
    ending.abort();
  }
}

async function* mapItems(items: AsyncIterable<unknown>, map: (item: unknown) => unknown): AsyncIterable<unknown> {
  for await (const item of items) yield map(item);
}

async function tokenOf({ token, credentials }: ClientOptions<boolean>, rejected: string | undefined): Promise<string> {
  return credentials === undefined ? (token ?? "") : credentials.accessToken(rejected);
}

function headersOf({ headers }: CallOptions, token: string): Headers {
  const all = new Headers(headers);
  if (token !== "" && !all.has("authorization")) all.set("authorization", `Bearer ${token}`);
  return all;
}
