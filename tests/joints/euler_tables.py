"""Tables 1 to 3 of Sueda's tutorial, as printed: rows end in ";", s2 = sin q₂, c2 = cos q₂, d2 = q̇₂."""

ROTATION = {
    "XYX": "c2, s2*s3, c3*s2; s1*s2, c1*c3 - c2*s1*s3, -c1*s3 - c2*c3*s1; -c1*s2, c3*s1 + c1*c2*s3, c1*c2*c3 - s1*s3",
    "XZX": "c2, -c3*s2, s2*s3; c1*s2, c1*c2*c3 - s1*s3, -c3*s1 - c1*c2*s3; s1*s2, c1*s3 + c2*c3*s1, c1*c3 - c2*s1*s3",
    "YZY": "c1*c2*c3 - s1*s3, -c1*s2, c3*s1 + c1*c2*s3; c3*s2, c2, s2*s3; -c1*s3 - c2*c3*s1, s1*s2, c1*c3 - c2*s1*s3",
    "YXY": "c1*c3 - c2*s1*s3, s1*s2, c1*s3 + c2*c3*s1; s2*s3, c2, -c3*s2; -c3*s1 - c1*c2*s3, c1*s2, c1*c2*c3 - s1*s3",
    "ZXZ": "c1*c3 - c2*s1*s3, -c1*s3 - c2*c3*s1, s1*s2; c3*s1 + c1*c2*s3, c1*c2*c3 - s1*s3, -c1*s2; s2*s3, c3*s2, c2",
    "ZYZ": "c1*c2*c3 - s1*s3, -c3*s1 - c1*c2*s3, c1*s2; c1*s3 + c2*c3*s1, c1*c3 - c2*s1*s3, s1*s2; -c3*s2, s2*s3, c2",
    "XYZ": "c2*c3, -c2*s3, s2; c1*s3 + c3*s1*s2, c1*c3 - s1*s2*s3, -c2*s1; s1*s3 - c1*c3*s2, c3*s1 + c1*s2*s3, c1*c2",
    "XZY": "c2*c3, -s2, c2*s3; s1*s3 + c1*c3*s2, c1*c2, c1*s2*s3 - c3*s1; c3*s1*s2 - c1*s3, c2*s1, c1*c3 + s1*s2*s3",
    "YZX": "c1*c2, s1*s3 - c1*c3*s2, c3*s1 + c1*s2*s3; s2, c2*c3, -c2*s3; -c2*s1, c1*s3 + c3*s1*s2, c1*c3 - s1*s2*s3",
    "YXZ": "c1*c3 + s1*s2*s3, c3*s1*s2 - c1*s3, c2*s1; c2*s3, c2*c3, -s2; c1*s2*s3 - c3*s1, s1*s3 + c1*c3*s2, c1*c2",
    "ZXY": "c1*c3 - s1*s2*s3, -c2*s1, c1*s3 + c3*s1*s2; c3*s1 + c1*s2*s3, c1*c2, s1*s3 - c1*c3*s2; -c2*s3, s2, c2*c3",
    "ZYX": "c1*c2, c1*s2*s3 - c3*s1, s1*s3 + c1*c3*s2; c2*s1, c1*c3 + s1*s2*s3, c3*s1*s2 - c1*s3; -s2, c2*s3, c2*c3",
}

SUBSPACE = {
    "XYX": "c2, 0, 1; s2*s3, c3, 0; c3*s2, -s3, 0",
    "XZX": "c2, 0, 1; -c3*s2, s3, 0; s2*s3, c3, 0",
    "YZY": "c3*s2, -s3, 0; c2, 0, 1; s2*s3, c3, 0",
    "YXY": "s2*s3, c3, 0; c2, 0, 1; -c3*s2, s3, 0",
    "ZXZ": "s2*s3, c3, 0; c3*s2, -s3, 0; c2, 0, 1",
    "ZYZ": "-c3*s2, s3, 0; s2*s3, c3, 0; c2, 0, 1",
    "XYZ": "c2*c3, s3, 0; -c2*s3, c3, 0; s2, 0, 1",
    "XZY": "c2*c3, -s3, 0; -s2, 0, 1; c2*s3, c3, 0",
    "YZX": "s2, 0, 1; c2*c3, s3, 0; -c2*s3, c3, 0",
    "YXZ": "c2*s3, c3, 0; c2*c3, -s3, 0; -s2, 0, 1",
    "ZXY": "-c2*s3, c3, 0; s2, 0, 1; c2*c3, s3, 0",
    "ZYX": "-s2, 0, 1; c2*s3, c3, 0; c2*c3, -s3, 0",
}

SUBSPACE_RATE = {
    "XYX": "-d2*s2, 0, 0; d2*c2*s3 + d3*c3*s2, -d3*s3, 0; d2*c2*c3 - d3*s2*s3, -d3*c3, 0",
    "XZX": "-d2*s2, 0, 0; d3*s2*s3 - d2*c2*c3, d3*c3, 0; d2*c2*s3 + d3*c3*s2, -d3*s3, 0",
    "YZY": "d2*c2*c3 - d3*s2*s3, -d3*c3, 0; -d2*s2, 0, 0; d2*c2*s3 + d3*c3*s2, -d3*s3, 0",
    "YXY": "d2*c2*s3 + d3*c3*s2, -d3*s3, 0; -d2*s2, 0, 0; d3*s2*s3 - d2*c2*c3, d3*c3, 0",
    "ZXZ": "d2*c2*s3 + d3*c3*s2, -d3*s3, 0; d2*c2*c3 - d3*s2*s3, -d3*c3, 0; -d2*s2, 0, 0",
    "ZYZ": "d3*s2*s3 - d2*c2*c3, d3*c3, 0; d2*c2*s3 + d3*c3*s2, -d3*s3, 0; -d2*s2, 0, 0",
    "XYZ": "-d2*c3*s2 - d3*c2*s3, d3*c3, 0; d2*s2*s3 - d3*c2*c3, -d3*s3, 0; d2*c2, 0, 0",
    "XZY": "-d2*c3*s2 - d3*c2*s3, -d3*c3, 0; -d2*c2, 0, 0; d3*c2*c3 - d2*s2*s3, -d3*s3, 0",
    "YZX": "d2*c2, 0, 0; -d2*c3*s2 - d3*c2*s3, d3*c3, 0; d2*s2*s3 - d3*c2*c3, -d3*s3, 0",
    "YXZ": "d3*c2*c3 - d2*s2*s3, -d3*s3, 0; -d2*c3*s2 - d3*c2*s3, -d3*c3, 0; -d2*c2, 0, 0",
    "ZXY": "d2*s2*s3 - d3*c2*c3, -d3*s3, 0; d2*c2, 0, 0; -d2*c3*s2 - d3*c2*s3, d3*c3, 0",
    "ZYX": "-d2*c2, 0, 0; d3*c2*c3 - d2*s2*s3, -d3*s3, 0; -d2*c3*s2 - d3*c2*s3, -d3*c3, 0",
}

DETERMINANT = {
    "XYX": "-s2",
    "XZX": "-s2",
    "YZY": "-s2",
    "YXY": "-s2",
    "ZXZ": "-s2",
    "ZYZ": "-s2",
    "XYZ": "c2",
    "XZY": "-c2",
    "YZX": "c2",
    "YXZ": "-c2",
    "ZXY": "c2",
    "ZYX": "-c2",
}
