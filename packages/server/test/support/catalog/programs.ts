import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** An ELF file of 64 bits with these sections and nothing to run. Source: System V ABI, chapter 4. */
export function elfWith(sections: Readonly<Record<string, Uint8Array>>): Buffer {
  const all: [string, Uint8Array][] = [
    ["", Buffer.alloc(0)],
    ...Object.entries(sections),
    [".shstrtab", Buffer.alloc(0)],
  ];
  const names = Buffer.from(all.map(([name]) => `${name}\0`).join(""));
  all[all.length - 1] = [".shstrtab", names];
  const head = Buffer.alloc(64);
  head.write("\x7fELF\x02\x01\x01", 0, "latin1");
  const rows: Buffer[] = [];
  const bodies: Buffer[] = [];
  let offset = head.length;
  let nameAt = 0;
  for (const [name, body] of all) {
    const row = Buffer.alloc(64);
    row.writeUInt32LE(nameAt, 0);
    row.writeUInt32LE(name === "" ? 0 : 1, 4);
    row.writeBigUInt64LE(BigInt(offset), 24);
    row.writeBigUInt64LE(BigInt(body.length), 32);
    rows.push(row);
    bodies.push(Buffer.from(body));
    offset += body.length;
    nameAt += name.length + 1;
  }
  head.writeBigUInt64LE(BigInt(offset), 40);
  head.writeUInt16LE(64, 58);
  head.writeUInt16LE(all.length, 60);
  head.writeUInt16LE(all.length - 1, 62);
  return Buffer.concat([head, ...bodies, ...rows]);
}

const FILES = {
  "go.mod":
    "module example.com/app\n\ngo 1.20\n\nrequire (\n\texample.com/Dep/sub v1.2.3\n\texample.com/own v0.0.0\n)\n\nreplace example.com/own => ./own\n",
  "main.go":
    'package main\n\nimport (\n\t"example.com/Dep/sub"\n\t"example.com/own"\n)\n\nfunc main() { sub.F(); own.F() }\n',
  "own/go.mod": "module example.com/own\n\ngo 1.20\n",
  "own/own.go": "package own\n\nfunc F() {}\n",
  "vendor/example.com/Dep/sub/sub.go": "package sub\n\nfunc F() {}\n",
  "vendor/example.com/own/own.go": "package own\n\nfunc F() {}\n",
  "vendor/modules.txt":
    "# example.com/Dep/sub v1.2.3\n## explicit; go 1.20\nexample.com/Dep/sub\n# example.com/own v0.0.0 => ./own\n## explicit; go 1.20\nexample.com/own\n# example.com/own => ./own\n",
};

/**
 * Builds a program with a dependency, without symbols, for each `<os>/<architecture>`. Undefined when there is no go.
 * Without a network: the dependency is a vendored one.
 */
export async function buildGo(
  targets: readonly string[],
): Promise<Record<string, { content: Buffer; release: string }> | undefined> {
  const run = promisify(execFile);
  const version = await run("go", ["env", "GOVERSION"]).catch(() => undefined);
  if (version === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "moorage-go-"));
  try {
    for (const [path, content] of Object.entries(FILES)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const built: Record<string, { content: Buffer; release: string }> = {};
    for (const target of targets) {
      const [GOOS, GOARCH] = target.split("/");
      const env = {
        ...process.env,
        GOOS,
        GOARCH,
        CGO_ENABLED: "0",
        GOFLAGS: "-mod=vendor",
        GOTOOLCHAIN: "local",
        GOWORK: "off",
      };
      await run("go", ["build", "-ldflags=-s -w", "-o", "out", "."], { cwd: folder, env, timeout: 300_000 });
      built[target] = {
        content: readFileSync(join(folder, "out")),
        release: version.stdout.trim().replace(/^go/, "").split(" ")[0] ?? "",
      };
    }
    return built;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
