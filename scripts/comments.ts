// Extracts the comments of the proto files, which generated code does not have: the descriptions of methods, messages
// and fields in the API's document.

interface Location {
  path?: number[];
  leadingComments?: string;
}
interface Named {
  name: string;
}
interface Message extends Named {
  field?: Named[];
  nestedType?: Message[];
  enumType?: Enum[];
}
interface Enum extends Named {
  value?: Named[];
}
interface Service extends Named {
  method?: Named[];
}
interface File extends Named {
  package: string;
  messageType?: Message[];
  enumType?: Enum[];
  service?: Service[];
  sourceCodeInfo?: { location: Location[] };
}

// Field numbers in google/protobuf/descriptor.proto, of which the path of a location consists.
const FILE = { messageType: 4, enumType: 5, service: 6 };
const MESSAGE = { field: 2, nestedType: 3, enumType: 4 };
const VALUE = 2;
const METHOD = 2;

/** A module with every comment of Moorage's own proto files by full name, from the JSON that `buf build` writes. */
export function commentsModule(image: string): string {
  const { file } = JSON.parse(image) as { file: File[] };
  const comments = file.filter(({ name }) => name.startsWith("moorage/")).flatMap(commentsOf);
  const lines = comments
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, text]) => `  ${JSON.stringify(name)}: ${JSON.stringify(text)},\n`);
  return `// Generated from proto/ by scripts/generate.ts. Do not edit.\n/** What the contract says about a method, message, field, enum or value, by full name. */\nexport const COMMENTS: Readonly<Record<string, string>> = {\n${lines.join("")}};\n`;
}

function commentsOf(file: File): [string, string][] {
  const byPath = new Map(
    file.sourceCodeInfo?.location.map(({ path = [], leadingComments }) => [path.join("."), leadingComments]),
  );
  const found: [string, string][] = [];
  const note = (name: string, path: number[]): void => {
    const text = byPath
      .get(path.join("."))
      ?.split("\n")
      .map((line) => line.trim())
      .join(" ")
      .trim();
    if (text) found.push([name, text]);
  };
  const visitEnum = ({ name, value = [] }: Enum, prefix: string, path: number[]): void => {
    note(`${prefix}.${name}`, path);
    value.forEach((each, at) => note(`${prefix}.${name}.${each.name}`, [...path, VALUE, at]));
  };
  const visit = (
    { name, field = [], nestedType = [], enumType = [] }: Message,
    prefix: string,
    path: number[],
  ): void => {
    const full = `${prefix}.${name}`;
    note(full, path);
    field.forEach((each, at) => note(`${full}.${each.name}`, [...path, MESSAGE.field, at]));
    nestedType.forEach((each, at) => visit(each, full, [...path, MESSAGE.nestedType, at]));
    enumType.forEach((each, at) => visitEnum(each, full, [...path, MESSAGE.enumType, at]));
  };
  file.messageType?.forEach((each, at) => visit(each, file.package, [FILE.messageType, at]));
  file.enumType?.forEach((each, at) => visitEnum(each, file.package, [FILE.enumType, at]));
  file.service?.forEach(({ name, method = [] }, at) => {
    note(`${file.package}.${name}`, [FILE.service, at]);
    method.forEach((each, index) => note(`${file.package}.${name}.${each.name}`, [FILE.service, at, METHOD, index]));
  });
  return found;
}
