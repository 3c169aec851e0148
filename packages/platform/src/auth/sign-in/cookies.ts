import type { Request, Response } from "@moorage/kernel/core/http";
import { isSecret } from "./secrets.ts";

/** A cookie that holds a secret. */
export interface Cookie {
  /** The secret that the browser sent. Undefined for none, one of another form, or two that differ. */
  read(request: Request): string | undefined;
  set(response: Response, secret: string, maxAgeS: number): void;
  clear(response: Response): void;
}

/**
 * A cookie of this host alone, which scripts cannot read. The browser sends it with requests of our own pages and when
 * a link leads here, but not with forms that another site posts. On plain http, in development, it has no `__Host-`
 * prefix and so lacks that prefix's guarantees. Source: RFC 6265bis §4.1.3.2, §5.3.7.
 */
export function hostCookie(name: string, baseUrl: string): Cookie {
  const secure = baseUrl.startsWith("https:");
  const full = `${secure ? "__Host-" : ""}${name}`;
  const header = (value: string, maxAgeS: number): string =>
    `${full}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  const write = (response: Response, text: string): void => {
    const before = response.getHeader("set-cookie");
    response.setHeader("set-cookie", [...(Array.isArray(before) ? before.map(String) : []), text]);
  };
  return {
    read({ headers }) {
      const values = (headers.cookie ?? "")
        .split(";")
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${full}=`))
        .map((pair) => pair.slice(full.length + 1));
      const [value] = values;
      return value !== undefined && isSecret(value) && values.every((other) => other === value) ? value : undefined;
    },
    set: (response, secret, maxAgeS) => write(response, header(secret, maxAgeS)),
    clear: (response) => write(response, header("", 0)),
  };
}
