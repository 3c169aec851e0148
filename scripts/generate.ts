// Generates packages/api/src/gen from proto/. With --check it only reports whether the committed code is up to date.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commentsModule } from "./comments.ts";

const target = "packages/api/src/gen";
const check = process.argv.includes("--check");
const scratch = mkdtempSync("build-gen-");
try {
  const sources = [
    "proto/moorage",
    "node_modules/google-proto-files/google/rpc",
    "node_modules/grpc-health-check/proto/health",
    "node_modules/@grpc/reflection/build/proto/grpc/reflection",
  ];
  execFileSync("buf", ["generate", "--output", scratch, ...sources.flatMap((path) => ["--path", path])], {
    stdio: "inherit",
  });
  const made = join(scratch, target);
  const image = execFileSync("buf", ["build", "--path", "proto/moorage", "-o", "-#format=json"], {
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  writeFileSync(join(made, "moorage/comments.ts"), commentsModule(image));
  if (!check) {
    rmSync(target, { recursive: true, force: true });
    cpSync(made, target, { recursive: true });
  } else if (!sameTree(made, target)) {
    console.error("generated code is out of date: run `npm run generate` and commit what it changes");
    process.exitCode = 1;
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function sameTree(left: string, right: string): boolean {
  const files = (root: string): string[] =>
    existsSync(root)
      ? readdirSync(root, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
          .sort()
      : [];
  const names = files(left);
  return (
    names.join() === files(right).join() &&
    names.every((name) => readFileSync(left + name).equals(readFileSync(right + name)))
  );
}
