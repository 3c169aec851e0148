import { parseHost } from "../lib/host.ts";
import { peerAddress } from "../lib/network.ts";
import type { Request } from "./http.ts";

/** How a request was addressed: `http` or `https`, and the host[:port] as it was sent. */
export interface CalledOrigin {
  scheme: "http" | "https";
  host: string;
}

const MAX_FORWARDED_CHARS = 4_096;

/**
 * The origin that the client of a request called: by its Host, and by the scheme of the port; or, where the request
 * comes from a trusted proxy, by what that proxy forwards. Of several hosts or schemes that proxies have forwarded, the
 * last one counts, which the trusted proxy itself has added. Undefined when there is none, when it is malformed, or
 * when the request has more than one Host.
 *
 * `Forwarded` counts only without `X-Forwarded-*`: a proxy that writes the latter passes the former on as the client
 * sent it. Source: RFC 9110 §7.2, RFC 7239 §4.
 */
export function calledOrigin(
  request: Request,
  { isProxy, scheme: own }: { isProxy: (address: string) => boolean; scheme: CalledOrigin["scheme"] },
): CalledOrigin | undefined {
  const said = isProxy(peerAddress(request.socket.remoteAddress ?? "")) ? forwarded(request.headers) : {};
  if (said === undefined) return undefined;
  const host = said.host ?? ownHost(request);
  const scheme = said.proto?.toLowerCase() ?? own;
  if (host === undefined || (scheme !== "http" && scheme !== "https")) return undefined;
  return parseHost(host) === undefined ? undefined : { scheme, host };
}

/** The one Host of a request; HTTP/2 has it as `:authority`. */
function ownHost({ rawHeaders }: Request): string | undefined {
  const hosts = new Set<string>();
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase();
    if (name !== "host" && name !== ":authority") continue;
    count += name === "host" ? 1 : 0;
    hosts.add(rawHeaders[at + 1] ?? "");
  }
  return hosts.size === 1 && count <= 1 ? [...hosts][0] : undefined;
}

/** What a proxy says of the request that it forwards; undefined when that is malformed. */
function forwarded(headers: Request["headers"]): { host?: string; proto?: string } | undefined {
  const host = lastOf(headers["x-forwarded-host"]);
  const proto = lastOf(headers["x-forwarded-proto"]);
  if (host !== undefined || proto !== undefined)
    return { ...(host !== undefined && { host }), ...(proto !== undefined && { proto }) };
  const text = headers.forwarded;
  if (text === undefined || headers["x-forwarded-for"] !== undefined) return {};
  return lastElement(text);
}

function lastOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header.join(",") : header;
  return text?.slice(text.lastIndexOf(",") + 1).trim();
}

const PARAMETER = /^[ \t]*([0-9a-z_-]+)=(?:"([^"\\]*)"|([^\s",;=]*))[ \t]*$/i;

/** Host and scheme in the last element of a `Forwarded` header. Undefined when the header is malformed. */
function lastElement(text: string): { host?: string; proto?: string } | undefined {
  if (text.length > MAX_FORWARDED_CHARS) return undefined;
  let found: Record<string, string> = {};
  let isQuoted = false;
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const char = text[at];
    if (char === '"') isQuoted = !isQuoted;
    if (char !== undefined && (isQuoted || (char !== ";" && char !== ","))) continue;
    const [, name, quoted, token] = PARAMETER.exec(text.slice(start, at)) ?? [];
    if (name === undefined) return undefined;
    found[name.toLowerCase()] = quoted ?? token ?? "";
    if (char === ",") found = {};
    start = at + 1;
  }
  const { host, proto } = found;
  return { ...(host !== undefined && { host }), ...(proto !== undefined && { proto }) };
}
