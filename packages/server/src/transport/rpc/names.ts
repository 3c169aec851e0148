import type { DescService } from "@bufbuild/protobuf";
import { Health } from "@moorage/api/gen/health/v1/health_pb";
import { ServerReflection } from "@moorage/api/gen/grpc/reflection/v1/reflection_pb";
import { ServerReflection as AlphaReflection } from "@moorage/api/gen/grpc/reflection/v1alpha/reflection_pb";
import { aliasedName, OWN_PREFIX } from "@moorage/kernel/core/aliased-name";
import type { Request } from "@moorage/kernel/core/http";

// The version is what comes before the service's own name; an alias may have a part `v2` as well.
const BETA_OF = /\.v2\.([^.]+)$/;

/**
 * Every name under which a service is served: its full name, or a path that begins with it, unchanged, below each
 * alias, and each of these with the package version `v2beta1` in place of `v2`. Messages are the same under all of
 * them. Source: docs/contract.md, "Versions".
 */
export function servedNames(name: string, aliases: readonly string[]): string[] {
  if (!name.startsWith(OWN_PREFIX)) return [name];
  const names = [name, ...aliases.map((alias) => aliasedName(name, alias))];
  return [...names, ...names.filter((each) => BETA_OF.test(each)).map((each) => each.replace(BETA_OF, ".v2beta1.$1"))];
}

/** Every name of each service, aliases included, with the service's own name; health and reflection are among them. */
export function trueNamesOf(services: readonly DescService[], aliases: readonly string[]): Map<string, string> {
  return new Map(
    [...services, Health, ServerReflection, AlphaReflection].flatMap(({ typeName }) =>
      servedNames(typeName, aliases).map((name) => [name, typeName]),
    ),
  );
}

export function pathOf(request: Request): string {
  return request.url?.split("?", 1)[0] ?? "";
}

export function serviceOf(request: Request): string {
  return pathOf(request).split("/", 2)[1] ?? "";
}
