import { readFileSync } from "node:fs";

// What a browser loads before the start page shows: the entry, the frame, the page, and what they import.
const FIRST = ["index.html", "src/app/shell.tsx", "src/pages/home/home-page.tsx"];
const manifest = JSON.parse(readFileSync(new URL("dist/manifest.json", import.meta.url), "utf8"));
const files = new Set();
const visit = (name) => {
  const { file, imports = [] } = manifest[name];
  if (files.has(file)) return;
  files.add(file);
  imports.forEach(visit);
};
FIRST.forEach(visit);

export default [{ name: "first load", path: [...files].map((file) => `dist/${file}`), limit: "170 kB", gzip: true }];
