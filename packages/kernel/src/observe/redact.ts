// A password in a URL or a token in a header, which an error of a library may repeat from its input.
const PASSWORD = /(:\/\/[^\s:/@]*:)[^\s/@]+@/g;
const TOKEN = /\b(bearer|basic) +[A-Za-z0-9._~+/=-]{8,}/gi;
const SECRET_NAME = /^(?:authorization|password|connectionstring|secret|token)$/i;
const MAX_DEPTH = 6;

/** A copy of the value with every secret in its texts hidden. Levels deeper than six are left out. */
export function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.replace(PASSWORD, "$1***@").replace(TOKEN, "$1 ***");
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return "[deeper]";
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      SECRET_NAME.test(name) ? "***" : withoutSecrets(item, depth + 1),
    ]),
  );
}
