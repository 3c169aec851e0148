// What the first versions of Node 22 do not have yet, and what this file loads uses.

if (typeof URL.parse !== "function") URL.parse = (url, base) => (URL.canParse(url, base) ? new URL(url, base) : null);
