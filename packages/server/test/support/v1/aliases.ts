import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, createFileRegistry, type DescMethod, fromBinary, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { Grpc } from "../grpc.ts";

const ROOT = fileURLToPath(new URL("../../../../../", import.meta.url));
const IMPORTED = ["google/api", "google/rpc"];

/**
 * The descriptors of the `.proto` files with another package prefix, as a client's own copy has them:
 * `example.platform` makes `example.platform.iam` of `moorage.iam`.
 */
export function aliasedDescriptors(prefix: string): Registry {
  const folder = mkdtempSync(join(tmpdir(), "moorage-protos-"));
  try {
    for (const path of IMPORTED) {
      const from = join(ROOT, "node_modules/google-proto-files", path);
      for (const name of readdirSync(from).filter((each) => each.endsWith(".proto"))) {
        mkdirSync(join(folder, path), { recursive: true });
        cpSync(join(from, name), join(folder, path, name));
      }
    }
    const protos = join(ROOT, "proto");
    for (const name of readdirSync(protos, { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".proto")) continue;
      mkdirSync(join(folder, dirname(name)), { recursive: true });
      const text = readFileSync(join(protos, name), "utf8");
      // Names of packages have a dot behind the prefix or a semicolon; paths of imports have a slash.
      writeFileSync(join(folder, name), text.replaceAll(/\bmoorage(?=\.[a-z])/g, prefix));
    }
    const image = execFileSync("buf", ["build", ".", "-o", "-"], { cwd: folder, maxBuffer: 64 << 20 });
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The client with the descriptors of the other prefix: a call goes to the alias, in messages of the alias. */
export function aliasedClient(grpc: Grpc, prefix: string, descriptors: Registry): Grpc {
  const aliasOf = <M extends DescMethod>(method: M): M => {
    const service = descriptors.getService(method.parent.typeName.replace(/^moorage\./, `${prefix}.`));
    const found = service?.method[method.localName];
    if (found === undefined) throw new Error(`${method.toString()} has no alias`);
    return found as M;
  };
  return {
    ...grpc,
    async call(method, request, token) {
      const alias = aliasOf(method);
      const sent = fromBinary(alias.input, toBinary(method.input, create(method.input, request)));
      const answer = await grpc.call(alias, sent, token);
      if (answer.message === undefined) return answer;
      return { message: fromBinary(method.output, toBinary(alias.output, answer.message)) };
    },
  };
}
