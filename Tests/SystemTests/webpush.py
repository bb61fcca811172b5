"""A browser's side of Web Push in Python alone: P-256, AES-128-GCM, and what RFC 8188, 8291 and 8292 make of them.

Slow, and open to whom can measure times: for tests only.
"""

import base64
import hashlib
import hmac
import json
import secrets

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def add(left, right):
    """The sum of two points; None is the point at infinity."""
    if left is None or right is None:
        return left or right
    if left[0] == right[0]:
        if (left[1] + right[1]) % P == 0:
            return None
        slope = (3 * left[0] * left[0] - 3) * pow(2 * left[1], -1, P)
    else:
        slope = (right[1] - left[1]) * pow(right[0] - left[0], -1, P)
    x = (slope * slope - left[0] - right[0]) % P
    return x, (slope * (left[0] - x) - left[1]) % P


def times(number, point):
    """A multiple of a point."""
    total = None
    while number:
        if number & 1:
            total = add(total, point)
        point = add(point, point)
        number >>= 1
    return total


def point_of(data):
    """The point of 65 bytes; it must lie on the curve."""
    assert len(data) == 65 and data[0] == 4, "not an uncompressed point"
    x, y = int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big")
    assert (y * y - x * x * x + 3 * x - B) % P == 0, "not on the curve"
    return x, y


def bytes_of(point):
    return b"\x04" + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


def is_signature(signature, message, point):
    """Whether an ECDSA signature with SHA-256 is that of a point."""
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if len(signature) != 64 or not (0 < r < N and 0 < s < N):
        return False
    inverse = pow(s, -1, N)
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    found = add(times(digest * inverse % N, G), times(r * inverse % N, point))
    return found is not None and found[0] % N == r


def _double(byte):
    return (byte << 1 ^ (0x1B if byte & 0x80 else 0)) & 0xFF


def _boxes():
    box, p, q = [0] * 256, 1, 1
    while True:
        p ^= _double(p)
        for shift in (1, 2, 4):
            q ^= q << shift & 0xFF
        if q & 0x80:
            q ^= 0x09
        turned = q
        for shift in (1, 2, 3, 4):
            turned ^= (q << shift | q >> 8 - shift) & 0xFF
        box[p] = turned ^ 0x63
        if p == 1:
            break
    box[0] = 0x63
    return box


BOX = _boxes()


def aes(key, block):
    """One block, encrypted by AES-128."""
    words, constant = [list(key[i : i + 4]) for i in range(0, 16, 4)], 1
    for i in range(4, 44):
        word = list(words[-1])
        if i % 4 == 0:
            word = [BOX[byte] for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = _double(constant)
        words.append([left ^ right for left, right in zip(words[i - 4], word)])
    keys = [sum(words[i : i + 4], []) for i in range(0, 44, 4)]
    state = [left ^ right for left, right in zip(block, keys[0])]
    for number in range(1, 11):
        state = [BOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < 10:
            mixed = []
            for i in range(0, 16, 4):
                column = state[i : i + 4]
                whole = column[0] ^ column[1] ^ column[2] ^ column[3]
                mixed += [column[j] ^ whole ^ _double(column[j] ^ column[(j + 1) % 4]) for j in range(4)]
            state = mixed
        state = [left ^ right for left, right in zip(state, keys[number])]
    return bytes(state)


def _product(left, right):
    """The product of two numbers in the field of GCM."""
    total = 0
    for bit in range(127, -1, -1):
        if left >> bit & 1:
            total ^= right
        right = right >> 1 ^ (0xE1 << 120 if right & 1 else 0)
    return total


def gcm_open(key, nonce, sealed):
    """The text of what AES-128-GCM sealed; its tag must be right."""
    body, tag = sealed[:-16], sealed[-16:]
    text = b""
    for number in range(0, len(body), 16):
        stream = aes(key, nonce + (2 + number // 16).to_bytes(4, "big"))
        text += bytes(left ^ right for left, right in zip(body[number : number + 16], stream))
    secret, total = int.from_bytes(aes(key, bytes(16)), "big"), 0
    for number in range(0, len(body), 16):
        total = _product(total ^ int.from_bytes(body[number : number + 16].ljust(16, b"\0"), "big"), secret)
    total = _product(total ^ len(body) * 8, secret)
    mask = aes(key, nonce + (1).to_bytes(4, "big"))
    assert bytes(left ^ right for left, right in zip(total.to_bytes(16, "big"), mask)) == tag, "the tag is wrong"
    return text


def derived(salt, secret, info, length):
    """A key by HKDF with one block."""
    extracted = hmac.new(salt, secret, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\1", hashlib.sha256).digest()[:length]


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    """A browser with a subscription: its keys, and how it reads messages."""

    def __init__(self, number=None, secret=None):
        self.number = number or secrets.randbelow(N - 1) + 1
        self.point = bytes_of(times(self.number, G))
        self.secret = secret or secrets.token_bytes(16)

    @property
    def keys(self):
        """What `PushSubscription.toJSON()` gives."""
        return {"p256dh": encoded(self.point), "auth": encoded(self.secret)}

    def read(self, body):
        """The text of a message; everything about its form and encryption must be right."""
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        server, sealed = body[21 : 21 + length], body[21 + length :]
        assert size >= len(sealed) and len(body) <= 4096, "more than one record, or more than services take"
        shared = times(self.number, point_of(server))[0].to_bytes(32, "big")
        secret = derived(self.secret, shared, b"WebPush: info\0" + self.point + server, 32)
        key = derived(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derived(salt, secret, b"Content-Encoding: nonce\0", 12)
        text = gcm_open(key, nonce, sealed).rstrip(b"\0")
        assert text[-1] == 2, "the last record does not say that it is"
        return text[:-1]


def check_token(header, key, origin, now):
    """Checks the header `authorization` of a message: who sent it, to which service, until when. Returns what it claims."""
    scheme, parts = header.split(" ", 1)
    parts = dict(part.strip().split("=", 1) for part in parts.split(","))
    assert scheme == "vapid" and parts["k"] == key, "the key is not the one that the subscription is for"
    signed, signature = parts["t"].rsplit(".", 1)
    first, second = (json.loads(decoded(section)) for section in signed.split("."))
    assert first == {"typ": "JWT", "alg": "ES256"}, first
    assert is_signature(decoded(signature), signed.encode(), point_of(decoded(key))), "the signature is wrong"
    assert second["aud"] == origin, second
    assert now < second["exp"] <= now + 86_400, second
    return second


def main():
    """Reads the message of RFC 8291, appendix A."""
    browser = Browser(
        int.from_bytes(decoded("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"), "big"),
        decoded("BTBZMqHH6r4Tts7J_aSIgg"),
    )
    body = decoded(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"
        "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    assert browser.read(body) == b"When I grow up, I want to be a watermelon"
    print("the message of RFC 8291 is read")


if __name__ == "__main__":
    main()
