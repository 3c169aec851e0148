/** A page as a browser shows it: the last answer after all redirects, or the redirect that it was not to follow. */
export interface Shown {
  url: string;
  status: number;
  headers: Headers;
  text: string;
  location: string;
}

/** A browser without scripts: it stores cookies by host and port, and follows redirects. */
export interface Browser {
  /** Opens the URL. Stops at a redirect to an address that begins with `until`, which is then in `location`. */
  open(url: string, until?: string): Promise<Shown>;
  post(url: string, form: Record<string, string>, until?: string): Promise<Shown>;
  /** Opens the URL, and fills in the provider's pages that it leads to: logs in as this person and consents. */
  signIn(url: string, login: string, until?: string): Promise<Shown>;
  /** The stored cookies of the origin, as name=value. */
  cookies(url: string): string[];
  setCookie(url: string, name: string, value: string): void;
}

const TIMEOUT_MS = 60_000;
const MAX_REDIRECTS = 20;

export function openBrowser(): Browser {
  const jars = new Map<string, Map<string, { value: string; path: string }>>();
  const jarOf = (url: string) => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, { value: string; path: string }>();
    jars.set(origin, jar);
    return jar;
  };
  const keep = (url: string, headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
      const cut = pair.indexOf("=");
      const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? "/";
      const [name, value] = [pair.slice(0, cut), pair.slice(cut + 1)];
      const gone =
        value === "" ||
        attributes.some(
          (one) => /^max-age=0$/i.test(one) || (/^expires=/i.test(one) && Date.parse(one.slice(8)) < Date.now()),
        );
      if (gone) jarOf(url).delete(name);
      else jarOf(url).set(name, { value, path });
    }
  };
  const go = async (url: string, until: string | undefined, form?: Record<string, string>): Promise<Shown> => {
    let [at, body] = [url, form];
    for (let hops = 0; hops < MAX_REDIRECTS; hops += 1) {
      const { pathname } = new URL(at);
      const cookie = [...jarOf(at)]
        .filter(([, { path }]) => pathname.startsWith(path))
        .map(([name, { value }]) => `${name}=${value}`)
        .join("; ");
      const response = await fetch(at, {
        redirect: "manual",
        headers: { ...(cookie !== "" && { cookie }) },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body && { method: "POST", body: new URLSearchParams(body) }),
      });
      keep(at, response.headers);
      const text = await response.text();
      const target = response.headers.get("location");
      const location = target === null ? "" : new URL(target, at).href;
      if (location === "" || (until !== undefined && location.startsWith(until)))
        return { url: at, status: response.status, headers: response.headers, text, location };
      [at, body] = [location, undefined];
    }
    throw new Error("redirected for ever");
  };
  return {
    open: (url, until) => go(url, until),
    post: (url, form, until) => go(url, until, form),
    async signIn(url, login, until) {
      let shown = await go(url, until);
      for (let pages = 0; pages < 3 && shown.location === ""; pages += 1) {
        const prompt = /name="prompt" value="(\w+)"/.exec(shown.text)?.[1];
        const action = /<form[^>]* action="([^"]+)"/.exec(shown.text)?.[1];
        if (prompt === undefined || action === undefined) return shown;
        shown = await go(new URL(action, shown.url).href, until, {
          prompt,
          ...(prompt === "login" && { login, password: "any" }),
        });
      }
      return shown;
    },
    cookies: (url) => [...jarOf(url)].map(([name, { value }]) => `${name}=${value}`),
    setCookie: (url, name, value) => void jarOf(url).set(name, { value, path: "/" }),
  };
}
