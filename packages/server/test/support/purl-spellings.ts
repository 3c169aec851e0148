/** A package as our own reading of an image has it, and how others write it. */
export interface SpelledPackage {
  /** As it is stored. */
  purl: string;
  name: string;
  version: string;
  source?: { name: string; version: string };
  /** The release of the image that it is in; that of its own purl without. */
  image?: { id: string; version: string };
  /** Package URLs of it that an SBOM may have in place of ours: of one version in one build. */
  sbom: readonly string[];
  /** Package URLs that mean it, and perhaps more: without a version, an architecture or a release. */
  broader?: readonly string[];
  /** Package URLs that look alike and mean something else. */
  others: readonly string[];
}

const BOOKWORM = { id: "debian", version: "12" };

// Sources: the SBOMs and VEX documents that Trivy, Syft, cdxgen, Debian, Ubuntu, Red Hat and SUSE publish.
export const SPELLED: readonly SpelledPackage[] = [
  {
    purl: "pkg:deb/debian/login@1:4.13%2Bdfsg1-1%2Bb1?arch=amd64&distro=debian-12",
    name: "login",
    version: "1:4.13+dfsg1-1+b1",
    source: { name: "shadow", version: "1:4.13+dfsg1-1" },
    sbom: [
      "pkg:deb/debian/login@1:4.13+dfsg1-1+b1?arch=amd64&distro=debian-12",
      "pkg:deb/debian/login@1%3A4.13%2Bdfsg1-1%2Bb1?arch=amd64&distro=debian-12.5",
      "pkg:deb/debian/login@4.13%2Bdfsg1-1%2Bb1?arch=amd64&distro=debian-12.5&epoch=1",
      "pkg:deb/debian/login@4.13+dfsg1-1+b1?distro=bookworm&epoch=1&arch=x86_64",
      "pkg:deb/debian/login@1%3a4.13%2bdfsg1-1%2bb1?arch=amd64&upstream=shadow%401%3A4.13%2Bdfsg1-1&distro=debian-12",
      "pkg:deb/debian/login@1:4.13%2Bdfsg1-1%2Bb1?arch=amd64&distro=12",
      "pkg:deb/debian/login@1:4.13%2Bdfsg1-1%2Bb1?arch=amd64&distro=debian-bookworm",
      "pkg:deb/debian/login@1:4.13%2Bdfsg1-1%2Bb1?arch=amd64",
      "PKG:DEB/Debian/Login@1:4.13%2Bdfsg1-1%2Bb1?Arch=AMD64&Distro=Bookworm",
      "pkg://deb/debian/login@1:4.13%2Bdfsg1-1%2Bb1?arch=amd64",
    ],
    broader: [
      "pkg:deb/debian/login",
      "pkg:deb/debian/login?distro=debian",
      "pkg:deb/debian/login@1:4.13+dfsg1-1+b1",
      "pkg:deb/debian/login@4.13%2Bdfsg1-1%2Bb1?epoch=1",
      "pkg:deb/debian/shadow?arch=source&distro=bookworm",
      "pkg:deb/debian/shadow@1:4.13%2Bdfsg1-1?arch=source",
      "pkg:deb/debian/shadow@4.13%2Bdfsg1-1?arch=src&epoch=1&distro=debian-12.5",
    ],
    others: [
      "pkg:deb/debian/login@4.13%2Bdfsg1-1%2Bb1?arch=amd64&distro=debian-12",
      "pkg:deb/debian/login@1:4.13%2Bdfsg1-1%2Bb1?arch=arm64&distro=debian-12",
      "pkg:deb/debian/login@1:4.13%2Bdfsg1-1%2Bb1?arch=amd64&distro=bullseye",
      "pkg:deb/debian/login@1:4.13%2Bdfsg1-1%2Bb1?arch=amd64&distro=debian-1",
      "pkg:deb/ubuntu/login@1:4.13%2Bdfsg1-1%2Bb1?arch=amd64",
      "pkg:deb/debian/shadow@1:4.13%2Bdfsg1-1",
      "pkg:deb/debian/login?arch=source",
      "pkg:deb/debian/shadow@1:4.14?arch=source",
    ],
  },
  {
    purl: "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?arch=arm64&distro=debian-12",
    name: "libstdc++6",
    version: "12.2.0-14",
    source: { name: "gcc-12", version: "12.2.0-14" },
    sbom: [
      "pkg:deb/debian/libstdc++6@12.2.0-14?arch=arm64&distro=debian-12.5",
      "pkg:deb/debian/libstdc%2b%2b6@12.2.0-14?arch=aarch64&distro=bookworm&upstream=gcc-12",
    ],
    broader: ["pkg:deb/debian/gcc-12?arch=source"],
    others: ["pkg:deb/debian/libstdc%20%206@12.2.0-14"],
  },
  {
    purl: "pkg:deb/ubuntu/libc6@2.39-0ubuntu8.3?arch=i386&distro=ubuntu-24.04",
    name: "libc6",
    version: "2.39-0ubuntu8.3",
    source: { name: "glibc", version: "2.39-0ubuntu8.3" },
    sbom: [
      "pkg:deb/ubuntu/libc6@2.39-0ubuntu8.3?arch=i386&distro=noble",
      "pkg:deb/ubuntu/libc6@2.39-0ubuntu8.3?arch=i686&distro=24.04",
      "pkg:deb/ubuntu/libc6@2.39-0ubuntu8.3?arch=386&distro=ubuntu-24.04",
    ],
    broader: ["pkg:deb/ubuntu/libc6?distro=ubuntu-noble", "pkg:deb/ubuntu/glibc?arch=source&distro=noble"],
    others: [
      "pkg:deb/ubuntu/libc6@2.39-0ubuntu8.3?arch=i386&distro=jammy",
      "pkg:deb/ubuntu/libc6@2.39-0ubuntu8.3?distro=ubuntu-24.10",
      "pkg:deb/debian/libc6?distro=bookworm",
    ],
  },
  {
    purl: "pkg:apk/alpine/libcrypto3@3.1.4-r0?arch=x86_64&distro=alpine-3.20.3",
    name: "libcrypto3",
    version: "3.1.4-r0",
    source: { name: "openssl", version: "3.1.4-r0" },
    sbom: [
      "pkg:apk/alpine/libcrypto3@3.1.4-r0?arch=x86_64&distro=alpine-3.20.3",
      "pkg:apk/alpine/libcrypto3@3.1.4-r0?arch=amd64&distro=3.20.3",
      "pkg:apk/alpine/libcrypto3@3.1.4-r0?arch=x86_64",
      "pkg:apk/Alpine/libcrypto3@3.1.4-r0?arch=x86_64&distro=alpine-v3.20.3",
    ],
    broader: ["pkg:apk/alpine/libcrypto3?distro=v3.20", "pkg:apk/alpine/libcrypto3@3.1.4-r0?distro=alpine-3.20.4"],
    others: ["pkg:apk/alpine/libcrypto3?distro=3.19", "pkg:apk/alpine/libcrypto3@3.1.4-r0?arch=x86"],
  },
  {
    purl: "pkg:rpm/redhat/bind-libs@9.16.23-18.el9?arch=x86_64&distro=rhel-9.4&epoch=32",
    name: "bind-libs",
    version: "32:9.16.23-18.el9",
    source: { name: "bind", version: "9.16.23-18.el9" },
    sbom: [
      "pkg:rpm/redhat/bind-libs@32:9.16.23-18.el9?arch=x86_64&distro=redhat-9.4",
      "pkg:rpm/rhel/bind-libs@9.16.23-18.el9?arch=amd64&epoch=32&distro=rhel-9.4",
      "pkg:rpm/redhat/bind-libs@9.16.23-18.el9?arch=x86_64&epoch=32&upstream=bind-9.16.23-18.el9.src.rpm&distro=9.4",
    ],
    broader: [
      "pkg:rpm/redhat/bind-libs@9.16.23-18.el9",
      "pkg:rpm/redhat/bind-libs?distro=plow",
      "pkg:rpm/redhat/bind-libs?distro=el9",
      "pkg:rpm/redhat/bind@9.16.23-18.el9?arch=src",
      "pkg:rpm/redhat/bind@9.16.23-18.el9?arch=src&epoch=32",
      "pkg:rpm/redhat/bind@32:9.16.23-18.el9?arch=src&distro=redhat-9",
    ],
    others: [
      "pkg:rpm/redhat/bind-libs@9.16.23-18.el9?epoch=31",
      "pkg:rpm/redhat/bind-libs@1:9.16.23-18.el9",
      "pkg:rpm/redhat/bind-libs?distro=redhat-8",
      "pkg:rpm/redhat/bind-libs?distro=rhel-9.2",
      "pkg:rpm/rocky/bind-libs@9.16.23-18.el9",
      "pkg:rpm/redhat/bind@9.16.23-18.el9?arch=src&epoch=31",
    ],
  },
  {
    purl: "pkg:rpm/rocky/curl@7.76.1-29.el9?arch=aarch64&distro=rocky-9.4",
    name: "curl",
    version: "7.76.1-29.el9",
    source: { name: "curl", version: "7.76.1-29.el9" },
    sbom: [
      "pkg:rpm/rocky/curl@7.76.1-29.el9?arch=arm64&distro=rocky-9.4&epoch=0",
      "pkg:rpm/rocky-linux/curl@0:7.76.1-29.el9?arch=aarch64&distro=rocky-linux-9.4",
    ],
    broader: [
      "pkg:rpm/rocky/curl?distro=blue-onyx",
      "pkg:rpm/rocky/curl?distro=rocky-9",
      "pkg:rpm/rocky/curl?arch=src",
    ],
    others: ["pkg:rpm/rocky/curl?distro=rocky-8.9", "pkg:rpm/almalinux/curl?distro=9"],
  },
  {
    purl: "pkg:rpm/almalinux/zlib@1.2.11-40.el9?arch=i686&distro=almalinux-9.4",
    name: "zlib",
    version: "1.2.11-40.el9",
    sbom: ["pkg:rpm/alma/zlib@1.2.11-40.el9?arch=i686&distro=alma-9.4"],
    broader: ["pkg:rpm/almalinux/zlib?distro=seafoam-ocelot&arch=i386"],
    others: ["pkg:rpm/almalinux/zlib?distro=cerulean-leopard", "pkg:rpm/almalinux/zlib?arch=x86_64"],
  },
  {
    purl: "pkg:rpm/opensuse/openssl-3@3.5.0-2.1?arch=x86_64&distro=opensuse-tumbleweed-20261101",
    name: "openssl-3",
    version: "3.5.0-2.1",
    image: { id: "opensuse-tumbleweed", version: "20261101" },
    sbom: ["pkg:rpm/opensuse-tumbleweed/openssl-3@3.5.0-2.1?arch=x86_64&distro=opensuse-tumbleweed-20261101"],
    broader: [
      "pkg:rpm/opensuse/openssl-3?distro=opensuse-tumbleweed",
      "pkg:rpm/opensuse/openssl-3@3.5.0-2.1?distro=opensuse.tumbleweed-20261001",
    ],
    others: ["pkg:rpm/opensuse/openssl-3?distro=opensuse-leap-15.6", "pkg:rpm/suse/openssl-3"],
  },
  {
    purl: "pkg:rpm/mariner/curl@8.8.0-5.cm2?arch=x86_64&distro=mariner-2.0",
    name: "curl",
    version: "8.8.0-5.cm2",
    sbom: ["pkg:rpm/cbl-mariner/curl@8.8.0-5.cm2?arch=x86_64&distro=cbl-mariner-2.0"],
    broader: ["pkg:rpm/mariner/curl?distro=2.0"],
    others: ["pkg:rpm/azurelinux/curl?distro=azurelinux-3.0", "pkg:rpm/mariner/curl?distro=mariner-1.0"],
  },
  {
    purl: "pkg:deb/debian/raspi@1?arch=armhf&distro=debian-12",
    name: "raspi",
    version: "1",
    image: BOOKWORM,
    sbom: ["pkg:deb/debian/raspi@1?arch=armv7l", "pkg:deb/debian/raspi@1?arch=armv7&distro=bookworm"],
    others: ["pkg:deb/debian/raspi@1?arch=armel", "pkg:deb/debian/raspi@1?arch=arm64"],
  },
  {
    purl: "pkg:golang/github.com/go-jose/go-jose/v3@v3.0.1",
    name: "github.com/go-jose/go-jose/v3",
    version: "v3.0.1",
    sbom: [
      "pkg:golang/github.com/go-jose/go-jose@v3.0.1#v3",
      "pkg:golang/github.com%2Fgo-jose%2Fgo-jose%2Fv3@v3.0.1",
      "pkg:golang/github.com/go-jose/go-jose/v3@v3.0.1?type=module",
    ],
    broader: [
      "pkg:golang/github.com/Go-Jose/go-jose/v3@3.0.1",
      "pkg:golang/github.com/go-jose/go-jose#v3",
      "pkg:golang/github.com/go-jose/go-jose@v3.0.1#v3/jwt",
    ],
    others: [
      "pkg:golang/github.com/go-jose/go-jose@v3.0.1",
      "pkg:golang/github.com/go-jose/go-jose@v3.0.1#v4",
      "pkg:golang/github.com/go-jose/go-jose/v3@v3.0.2",
    ],
  },
  {
    purl: "pkg:golang/github.com/Azure/azure-sdk-for-go/sdk/azcore@v1.9.0",
    name: "github.com/Azure/azure-sdk-for-go/sdk/azcore",
    version: "v1.9.0",
    sbom: ["pkg:golang/github.com/Azure/azure-sdk-for-go@v1.9.0#sdk/azcore"],
    broader: ["pkg:golang/github.com/azure/azure-sdk-for-go/sdk/azcore"],
    others: ["pkg:golang/github.com/Azure/azure-sdk-for-go@v1.9.0"],
  },
  {
    purl: "pkg:golang/stdlib@1.22.3",
    name: "stdlib",
    version: "1.22.3",
    sbom: ["pkg:golang/stdlib@1.22.3"],
    broader: ["pkg:golang/stdlib@go1.22.3", "pkg:golang/stdlib@v1.22.3", "pkg:golang/stdlib"],
    others: ["pkg:golang/stdlib@v1.22"],
  },
  {
    purl: "pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1",
    name: "org.apache.logging.log4j:log4j-core",
    version: "2.14.1",
    sbom: [
      "pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?type=jar",
      "pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?classifier=shaded&type=jar",
      "pkg:maven/org.apache.logging.log4j%2Flog4j-core@2.14.1?type=bundle",
    ],
    broader: [
      "pkg:maven/org.apache.logging.log4j/log4j-core",
      "pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1.0",
    ],
    others: [
      "pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?classifier=sources&type=jar",
      "pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?classifier=javadoc",
      "pkg:maven/org.apache.logging.log4j/Log4j-Core@2.14.1",
      "pkg:maven/log4j-core@2.14.1",
    ],
  },
  {
    purl: "pkg:pypi/torch@2.5.0%2Bcpu",
    name: "torch",
    version: "2.5.0+cpu",
    sbom: ["pkg:pypi/torch@2.5.0+cpu", "pkg:pypi/Torch@2.5.0%2bcpu"],
    broader: ["pkg:pypi/torch@2.5.0", "pkg:pypi/torch@2.5", "pkg:pypi/torch@v2.5.0", "pkg:pypi/torch"],
    others: ["pkg:pypi/torch@2.5.0+cu118", "pkg:pypi/torch@2.5.1", "pkg:pypi/torch@2.5.0%20cpu"],
  },
  {
    purl: "pkg:pypi/zope-interface@5.4.0",
    name: "Zope.Interface",
    version: "5.4.0",
    sbom: ["pkg:pypi/zope.interface@5.4.0", "pkg:pypi/Zope_Interface@5.4.0", "pkg:pypi/zope--interface@5.4.0"],
    broader: ["pkg:pypi/ZOPE.interface"],
    others: ["pkg:pypi/zopeinterface@5.4.0", "pkg:pypi/zope.interface@5.4.0%2Blocal"],
  },
  {
    purl: "pkg:npm/%40acme/ui@1.2.3",
    name: "@acme/ui",
    version: "1.2.3",
    sbom: ["pkg:npm/@acme/ui@1.2.3", "pkg:npm/%40acme%2Fui@1.2.3", "pkg:npm/@acme%2fui@1.2.3"],
    broader: ["pkg:npm/%40Acme/UI@1.2.3", "pkg:npm/@acme/ui", "pkg:npm/%40acme/ui@v1.2.3"],
    others: ["pkg:npm/ui@1.2.3", "pkg:npm/acme/ui@1.2.3", "pkg:npm/%40acme/ui@1.2.4"],
  },
  {
    purl: "pkg:npm/jsonstream@1.3.5",
    name: "JSONStream",
    version: "1.3.5",
    sbom: ["pkg:npm/JSONStream@1.3.5"],
    others: ["pkg:npm/json-stream@1.3.5"],
  },
];

/** The release of the image that the package is in. */
export function imageOf({ purl, image }: SpelledPackage): { id: string; version: string } | undefined {
  const [, id, version] = /distro=([a-z]+)-([0-9.]+)/.exec(purl) ?? [];
  return image ?? (id === undefined || version === undefined ? undefined : { id, version });
}
