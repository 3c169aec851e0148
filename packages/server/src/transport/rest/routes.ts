import { type DescMethodUnary, type DescService, hasOption } from "@bufbuild/protobuf";
import { http as httpOption } from "@moorage/api/gen/google/api/annotations_pb";
import type { HttpRule } from "@moorage/api/gen/google/api/http_pb";
import { isUnary } from "@moorage/kernel/core/method-kinds";
import { bySpecificity, matchTemplate, parseTemplate, type Template } from "./path-template.ts";
import { optionOf } from "@moorage/kernel/lib/options";

/** An HTTP verb and path by which a method can be called. */
export interface Binding {
  method: DescMethodUnary;
  /** GET, POST, PUT, PATCH or DELETE. */
  verb: string;
  template: Template;
  /** The proto name of the request field that the body holds; `*` for the whole request; empty without a body. */
  body: string;
}
/**
 * What a path matches: a binding with its values still percent-encoded, or the HTTP methods that are allowed instead.
 */
export type Match<T> = { target: T; values: string[] } | { allow: string };

export interface Routes<T> {
  /** Undefined when the path does not exist. The path has no query and is percent-encoded as it was received. */
  match(verb: string, path: string): Match<T> | undefined;
  /** The API area of a path by its first segment, e.g. "iam"; undefined when no service has it. */
  area(path: string): string | undefined;
}

const SLASH = 47;
const COLON = 58;

interface Shape<T> {
  template: Template;
  targets: Map<string, T>;
  allow: string;
}

/**
 * Every HTTP binding of the services' methods, including additional bindings. Methods without an HTTP rule have no
 * binding.
 */
export function bindingsOf(services: readonly DescService[]): Binding[] {
  const bindings: Binding[] = [];
  for (const method of services.flatMap((service) => service.methods)) {
    if (!hasOption(method, httpOption)) continue;
    const rule = optionOf(method, httpOption);
    if (!isUnary(method)) throw new Error(`a stream cannot have an HTTP rule ${method.toString()}`);
    for (const each of [rule, ...rule.additionalBindings])
      bindings.push({ method, ...patternOf(each), body: each.body });
  }
  return bindings;
}

/**
 * Compiles bindings into a matcher; `targetOf` makes the target that a match of the binding returns.
 * `/<domain>/v2beta1/` matches like `/<domain>/v2/`. The most specific path wins, whatever its methods. Throws at boot
 * when two bindings have the same method and path.
 */
export function compileRoutes<T>(bindings: readonly Binding[], targetOf: (binding: Binding) => T): Routes<T> {
  const collections = new Map<string, Shape<T>[]>();
  const areas = new Map<string, string>();
  for (const binding of bindings) {
    const { collection, shape } = binding.template;
    const shapes = collections.get(collection) ?? [];
    let found = shapes.find((each) => each.template.shape === shape);
    if (found === undefined) shapes.push((found = { template: binding.template, targets: new Map(), allow: "" }));
    if (found.targets.has(binding.verb)) throw new Error(`two methods claim ${binding.verb} ${shape}`);
    addTarget(found, binding.verb, targetOf(binding));
    shapes.sort((one, other) => bySpecificity(one.template, other.template));
    collections.set(collection, shapes);
    collections.set(collection.replace("/v2/", "/v2beta1/"), shapes);
    areas.set(
      collection.slice(1, collection.indexOf("/", 1)),
      binding.method.parent.file.proto.package.split(".")[1] ?? "",
    );
  }
  return { match: (verb, path) => match(collections, verb, path), area: (path) => areas.get(firstSegment(path)) };
}

function addTarget<T>(shape: Shape<T>, verb: string, target: T): void {
  shape.targets.set(verb, target);
  if (verb === "GET") shape.targets.set("HEAD", target);
  shape.allow = [...shape.targets.keys()].toSorted().join(", ");
}

function match<T>(collections: Map<string, Shape<T>[]>, verb: string, path: string): Match<T> | undefined {
  const end = collectionEnd(path);
  if (end < 0) return undefined;
  const rest = path.slice(end);
  for (const shape of collections.get(path.slice(0, end)) ?? []) {
    const values = matchTemplate(shape.template, rest);
    if (values === undefined) continue;
    const target = shape.targets.get(verb);
    return target === undefined ? { allow: shape.allow } : { target, values };
  }
  return undefined;
}

/**
 * The index at which the third segment ends, at a slash, a verb's colon or the end; -1 when there are fewer segments.
 */
function collectionEnd(path: string): number {
  const third = path.indexOf("/", path.indexOf("/", 1) + 1);
  if (path.charCodeAt(0) !== SLASH || third <= 0) return -1;
  for (let at = third + 1; at < path.length; at++) {
    const char = path.charCodeAt(at);
    if (char === SLASH || char === COLON) return at;
  }
  return path.length;
}

function firstSegment(path: string): string {
  const end = path.indexOf("/", 1);
  return path.slice(1, end < 0 ? path.length : end);
}

function patternOf({ pattern, selector }: HttpRule): { verb: string; template: Template } {
  if (pattern.case === undefined || pattern.case === "custom")
    throw new Error(`an HTTP rule without a standard method ${selector}`);
  return { verb: pattern.case.toUpperCase(), template: parseTemplate(pattern.value) };
}
