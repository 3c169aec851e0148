/** Files of a Java archive, by their paths in it. */
export type JarFiles = Record<string, string>;

/** Its manifest. */
export function manifestOf(fields: Record<string, string>): JarFiles {
  const lines = Object.entries({ "Manifest-Version": "1.0", ...fields }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return { "META-INF/MANIFEST.MF": `${lines.join("")}\r\n` };
}

/** What Maven writes into an archive that it builds. */
export function pomProperties(group: string, artifact: string, version: string): JarFiles {
  const text = `#Generated\ngroupId=${group}\nartifactId=${artifact}\nversion=${version}\n`;
  return { [`META-INF/maven/${group}/${artifact}/pom.properties`]: text };
}

/** The document of a project, which Maven packs beside that. */
export function pomXml(group: string, artifact: string, content: string): JarFiles {
  const text = `<?xml version="1.0"?>\n<project xmlns="http://maven.apache.org/POM/4.0.0">${content}</project>`;
  return { [`META-INF/maven/${group}/${artifact}/pom.xml`]: text };
}

/** So many classes in a folder. */
export function classesIn(folder: string, count: number): JarFiles {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}/C${n}.class`, "code"]));
}
