import { type Host, parseHost } from "../lib/host.ts";
import { isMailAddress } from "../lib/mail-address.ts";
import type { RateLimit } from "../lib/rate-limit.ts";
import { ConfigError } from "./error.ts";

/** Reads a setting's value. Throws a ConfigError in one line that begins with the setting's name. */
export type Kind<T> = (value: string, name: string) => T;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

const MAX_DELAYS = 50;
const PATH_COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"];

/** Milliseconds of a text such as `90s`, `15m`, `1h` or `7d`; undefined for another form. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  return match
    ? Number(match[1]) * { ms: 1, s: 1000, m: 60_000, h: HOUR_MS, d: DAY_MS }[match[2] as "ms" | "s" | "m" | "h" | "d"]
    : undefined;
}

export const text: Kind<string> = (value) => value;

/** A comma-separated list. */
export const list: Kind<string[]> = (value) =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

export const listOf =
  (pattern: RegExp, what: string): Kind<string[]> =>
  (value, name) =>
    list(value, name).map((item) => {
      if (!pattern.test(item)) throw new ConfigError(`${name}: ${item} is not ${what}`);
      return item;
    });

export const integer =
  (min: number, max: number): Kind<number> =>
  (value, name) => {
    if (!/^\d+$/.test(value) || Number(value) < min || Number(value) > max)
      throw new ConfigError(`${name}: must be a whole number from ${min} to ${max}, not ${value}`);
    return Number(value);
  };

/** A duration, in milliseconds. `min` is a text of the same form. */
export const duration =
  ({ min, maxMs }: { min?: string; maxMs: number }): Kind<number> =>
  (value, name) => {
    const durationMs = parseDuration(value);
    if (durationMs === undefined || durationMs <= 0 || durationMs > maxMs)
      throw new ConfigError(
        `${name}: must be a duration such as 90s, 15m or 1h, at most ${maxMs / 1000}s, not ${value}`,
      );
    if (min !== undefined && durationMs < (parseDuration(min) ?? 0))
      throw new ConfigError(`${name}: must be at least ${min}, not ${value}`);
    return durationMs;
  };

export const orZero =
  (kind: Kind<number>): Kind<number> =>
  (value, name) =>
    value === "0" ? 0 : kind(value, name);

export const orEmpty =
  <T>(kind: Kind<T>): Kind<T | ""> =>
  (value, name) =>
    value === "" ? "" : kind(value, name);

/** Several durations, in milliseconds. */
export const delays: Kind<number[]> = (value, name) => {
  const all = list(value, name).map((item) => {
    const delayMs = parseDuration(item);
    if (delayMs === undefined || delayMs <= 0 || delayMs > 7 * DAY_MS)
      throw new ConfigError(`${name}: must be durations such as 5s,1m,1h, each at most 7d, not ${item}`);
    return delayMs;
  });
  if (all.length > MAX_DELAYS) throw new ConfigError(`${name}: must be at most ${MAX_DELAYS} durations`);
  return all;
};

export const choice =
  <T extends string>(choices: readonly T[]): Kind<T> =>
  (value, name) => {
    const found = choices.find((candidate) => candidate === value);
    if (found === undefined) throw new ConfigError(`${name}: must be ${choices.join(" or ")}, not ${value}`);
    return found;
  };

export const flag: Kind<boolean> = (value, name) => {
  if (/^(?:1|true|on|yes)$/i.test(value)) return true;
  if (/^(?:0|false|off|no)$/i.test(value)) return false;
  throw new ConfigError(`${name}: must be 1 or 0, not ${value}`);
};

export const logLevel: Kind<string> = (value, name) => {
  if (!LOG_LEVELS.includes(value)) throw new ConfigError(`${name}: ${value} is not a level`);
  return value;
};

export const pathComponent: Kind<string> = (value, name) => {
  if (!PATH_COMPONENT.test(value)) throw new ConfigError(`${name}: ${value} is not a valid name in an image path`);
  return value;
};

/** A path on this server's host that ends with a slash, such as `/-/blobs/`. */
export const folderPath: Kind<string> = (value, name) => {
  if (value.length <= 100 && /^\/(?:[A-Za-z0-9_-]+\/)+$/.test(value)) return value;
  throw new ConfigError(`${name}: must be a path such as /-/blobs/, not ${value}`);
};

export const domain: Kind<string> = (value, name) => {
  if (value.length <= 200 && /^[a-z0-9]+(?:[.-][a-z0-9]+)*$/.test(value)) return value;
  throw new ConfigError(`${name}: must be a domain name in lower case, not ${value}`);
};

/** An http or https URL without a path, as its origin; or an empty text. */
export const origin: Kind<string> = (value, name) => {
  if (value === "") return "";
  const parsed = URL.parse(value);
  if (
    !parsed ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.search !== "" ||
    parsed.hash !== "" ||
    parsed.username !== "" ||
    parsed.pathname !== "/"
  )
    throw new ConfigError(`${name}: must be an http or https URL without a path, not ${value}`);
  return parsed.origin;
};

/** A host under which clients reach the registry beside its URL. */
export interface RegistryHost extends Host {
  /** Undefined where it is that of the request. */
  scheme: "http" | "https" | undefined;
}

const MAX_HOSTS = 100;

export const registryHosts: Kind<RegistryHost[]> = (value, name) => {
  const all = list(value, name).map((item) => {
    const [, scheme, authority = ""] = /^(?:(https?):\/\/)?(.*)$/s.exec(item) ?? [];
    const host = parseHost(authority);
    if (host === undefined)
      throw new ConfigError(
        `${name}: ${item} is not host[:port], such as registry.lan:5000 or https://images.example.com; ` +
          "a name that is not in ASCII is written as xn--…",
      );
    return { ...host, scheme: scheme as RegistryHost["scheme"] };
  });
  if (all.length > MAX_HOSTS) throw new ConfigError(`${name}: must be at most ${MAX_HOSTS} hosts`);
  return all;
};

/** A host at which paths have no prefix: the groups below a group stand for the registries that clients ask for. */
export interface MirrorHost extends Host {
  /** The path of the group, as acme/mirrors. */
  group: string;
}

export const mirrorHosts: Kind<MirrorHost[]> = (value, name) => {
  const all = list(value, name).map((item) => {
    const cut = item.indexOf("=");
    const host = cut < 0 ? undefined : parseHost(item.slice(0, cut));
    const group = item.slice(cut + 1);
    if (host === undefined || !group.split("/").every((part) => PATH_COMPONENT.test(part)))
      throw new ConfigError(`${name}: ${item} is not host[:port]=group, such as mirror.example.com=acme/mirrors`);
    return { ...host, group };
  });
  if (all.length > MAX_HOSTS) throw new ConfigError(`${name}: must be at most ${MAX_HOSTS} hosts`);
  return all;
};

export const redirectUris: Kind<string[]> = (value, name) =>
  list(value, name).map((item) => {
    const parsed = URL.parse(item);
    const loopback = parsed?.protocol === "http:" && ["127.0.0.1", "[::1]"].includes(parsed.hostname);
    if (
      parsed &&
      (parsed.protocol === "https:" || loopback) &&
      parsed.username === "" &&
      parsed.hash === "" &&
      parsed.href === item
    )
      return item;
    throw new ConfigError(`${name}: ${item} is not an https URL as a browser writes it, without user and fragment`);
  });

// The value may hold a password, so messages never repeat it.
export const databaseUrl: Kind<string> = (value, name) => {
  if (value === "") return "";
  const parsed = URL.parse(value);
  if (!parsed || !/^postgres(?:ql)?:$/.test(parsed.protocol) || parsed.pathname.length < 2)
    throw new ConfigError(`${name}: must be of the form postgres://user:password@host:port/database`);
  return value;
};

// The value may hold a password, so messages never repeat it.
export const smtpUrl: Kind<string> = (value, name) => {
  if (value === "") return "";
  const parsed = URL.parse(value);
  const isWhole = parsed !== null && /^smtps?:$/.test(parsed.protocol) && parsed.hostname !== "";
  if (!isWhole || !/^\/?$/.test(parsed.pathname) || parsed.search !== "" || parsed.hash !== "" || !isEncoded(parsed))
    throw new ConfigError(
      `${name}: must be of the form smtps://user:password@host:port or smtp://…; % and other signs of URLs in user and password are percent-encoded`,
    );
  return value;
};

function isEncoded({ username, password }: URL): boolean {
  try {
    return decodeURIComponent(username + password) !== undefined;
  } catch {
    return false;
  }
}

/** `Registry <registry@example.com>`, or the address alone. Undefined for an empty text. */
export const mailbox: Kind<{ name: string; address: string } | undefined> = (value, name) => {
  if (value === "") return undefined;
  const cut = value.endsWith(">") ? value.indexOf("<") : -1;
  const address = cut < 0 ? value.trim() : value.slice(cut + 1, -1);
  const words = cut < 0 ? "" : value.slice(0, cut).trim();
  if (isMailAddress(address) && !/[\p{Cc}<>"]/u.test(words) && words.length <= 100) return { name: words, address };
  throw new ConfigError(`${name}: must be an e-mail address, or a name and one: Registry <registry@example.com>`);
};

// Messages never repeat the value, because the URL of a collector may hold a password.
export const tracesUrl: Kind<string> = (value, name) => {
  if (value !== "" && !/^https?:$/.test(URL.parse(value)?.protocol ?? ""))
    throw new ConfigError(`${name}: must be an http or https URL`);
  return value;
};

/** Keys of 32 bytes, in base64 or hex, comma-separated. */
export const secretKeys: Kind<Uint8Array[]> = (value, name) =>
  list(value, name).map((item) => {
    const key = /^[0-9a-f]{64}$/i.test(item) ? Buffer.from(item, "hex") : Buffer.from(item, "base64");
    if (key.length !== 32)
      throw new ConfigError(
        `${name}: must be 32 bytes, in base64 or hex; \`openssl rand -base64 32\` makes such a key`,
      );
    return key;
  });

/** `500/s:2000`: requests a second and the burst, which defaults to four seconds' worth. */
export const rateLimit: Kind<RateLimit | undefined> = (value, name) => {
  if (value === "0") return undefined;
  const [, rate = "", burst] = /^([1-9]\d{0,8})\/s(?::([1-9]\d{0,8}))?$/.exec(value) ?? [];
  if (rate === "") throw new ConfigError(`${name}: must be 0 or of the form 500/s or 500/s:2000, not ${value}`);
  return { perSecond: Number(rate), burst: burst === undefined ? 4 * Number(rate) : Number(burst) };
};

export const share: Kind<number> = (value, name) => {
  const number = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 0 && number <= 1)) throw new ConfigError(`${name}: must be a number from 0 to 1, not ${value}`);
  return number;
};
