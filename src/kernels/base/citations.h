/*
   citations.h: the papers of algorithms and orderings, in BibTeX, for PETSc's -citations.
*/
#ifndef TRSV_CITATIONS_H
#define TRSV_CITATIONS_H

#define TRSV_CITE_CAPELLINI \
  "@inproceedings{CapelliniSpTRSV,\n" \
  "  author    = {Jiya Su and Feng Zhang and Weifeng Liu and Bingsheng He and Ruofan Wu and Xiaoyong Du and " \
  "Rujia Wang},\n" \
  "  title     = {{CapelliniSpTRSV}: A Thread-Level Synchronization-Free Sparse Triangular Solve on {GPU}s},\n" \
  "  booktitle = {49th International Conference on Parallel Processing (ICPP)},\n" \
  "  year      = {2020}\n" \
  "}\n"

#define TRSV_CITE_SYNCFREE \
  "@inproceedings{SyncFreeSpTRSV,\n" \
  "  author    = {Weifeng Liu and Ang Li and Jonathan Hogg and Iain S. Duff and Brian Vinter},\n" \
  "  title     = {A Synchronization-Free Algorithm for Parallel Sparse Triangular Solves},\n" \
  "  booktitle = {Euro-Par 2016: Parallel Processing},\n" \
  "  series    = {LNCS},\n" \
  "  volume    = {9833},\n" \
  "  year      = {2016}\n" \
  "}\n"

#define TRSV_CITE_SYNCFREE_CSR \
  "@inproceedings{DufrechouEzzatti2018,\n" \
  "  author    = {Ernesto Dufrechou and Pablo Ezzatti},\n" \
  "  title     = {Solving Sparse Triangular Linear Systems in Modern {GPU}s: A Synchronization-Free " \
  "Algorithm},\n" \
  "  booktitle = {26th Euromicro International Conference on Parallel, Distributed and Network-based " \
  "Processing (PDP)},\n" \
  "  year      = {2018}\n" \
  "}\n"

#define TRSV_CITE_LEVEL_SETS \
  "@article{AndersonSaad1989,\n" \
  "  author  = {Edward Anderson and Yousef Saad},\n" \
  "  title   = {Solving Sparse Triangular Linear Systems on Parallel Computers},\n" \
  "  journal = {International Journal of High Speed Computing},\n" \
  "  year    = {1989}\n" \
  "}\n"

#define TRSV_CITE_YUENYEUNG \
  "@article{YuenyeungSpTRSV,\n" \
  "  author  = {Feng Zhang and Jiya Su and Weifeng Liu and Bingsheng He and Ruofan Wu and Xiaoyong Du and " \
  "Rujia Wang},\n" \
  "  title   = {{YuenyeungSpTRSV}: A Thread-Level and Warp-Level Fusion Synchronization-Free Sparse " \
  "Triangular Solve},\n" \
  "  journal = {IEEE Transactions on Parallel and Distributed Systems},\n" \
  "  year    = {2021}\n" \
  "}\n"

#define TRSV_CITE_AG_SPTRSV \
  "@article{AGSpTRSV,\n" \
  "  author  = {Zhengding Hu and Jingwei Sun and Zhongyang Li and Guangzhong Sun},\n" \
  "  title   = {{AG-SpTRSV}: An Automatic Framework to Optimize Sparse Triangular Solve on {GPU}s},\n" \
  "  journal = {ACM Transactions on Architecture and Code Optimization},\n" \
  "  volume  = {21},\n" \
  "  number  = {4},\n" \
  "  year    = {2024}\n" \
  "}\n"

#define TRSV_CITE_BLOCK_ALGORITHMS \
  "@inproceedings{RecBlockSpTRSV,\n" \
  "  author    = {Zhengyang Lu and Yuyao Niu and Weifeng Liu},\n" \
  "  title     = {Efficient Block Algorithms for Parallel Sparse Triangular Solve},\n" \
  "  booktitle = {49th International Conference on Parallel Processing (ICPP)},\n" \
  "  year      = {2020}\n" \
  "}\n"

#define TRSV_CITE_DENSE_TRIANGLES \
  "@misc{DenseLowerTriangularSolver,\n" \
  "  title = {Dense Lower Triangular Solver: {GPU} Simple, {GPU} Complex 1 and {GPU} Complex 2},\n" \
  "  note  = {Course report; its authors are not named}\n" \
  "}\n"

#define TRSV_CITE_BLOCK_MULTICOLOR \
  "@inproceedings{IwashitaNakashimaTakahashi2012,\n" \
  "  author    = {Takeshi Iwashita and Hiroshi Nakashima and Yasuhito Takahashi},\n" \
  "  title     = {Algebraic Block Multi-Color Ordering Method for Parallel Multi-Threaded Sparse Triangular " \
  "Solver in {ICCG} Method},\n" \
  "  booktitle = {26th IEEE International Parallel and Distributed Processing Symposium (IPDPS)},\n" \
  "  year      = {2012}\n" \
  "}\n" \
  "@article{IwashitaLiFukaya2020,\n" \
  "  author  = {Takeshi Iwashita and Senxi Li and Takeshi Fukaya},\n" \
  "  title   = {Hierarchical Block Multi-Color Ordering: A New Parallel Ordering Method for Vectorization " \
  "and Parallelization of the Sparse Triangular Solver in the {ICCG} Method},\n" \
  "  journal = {CCF Transactions on High Performance Computing},\n" \
  "  year    = {2020}\n" \
  "}\n"

#define TRSV_CITE_INVERSE_FACTORS \
  "@article{AlvaradoSchreiber1993,\n" \
  "  author  = {Fernando L. Alvarado and Robert Schreiber},\n" \
  "  title   = {Optimal Parallel Solution of Sparse Triangular Systems},\n" \
  "  journal = {SIAM Journal on Scientific Computing},\n" \
  "  volume  = {14},\n" \
  "  number  = {2},\n" \
  "  year    = {1993}\n" \
  "}\n"

#endif
